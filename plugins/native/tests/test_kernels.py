import jax
import numpy as np
import pytest
from envcore_native import kernels

TWICE = """
FN void twice(int thread, int count, const int32* in, int32* out, bool* is_odd) {
  if (thread < count) { out[thread] = 2 * in[thread]; is_odd[thread] = in[thread] % 2; }
}
"""


def _twice(x):
    outputs = [(x.shape, np.dtype("int32")), (x.shape, np.dtype("bool"))]
    return kernels.call("twice", TWICE, {"count": len(x)}, [x], outputs, threads=64, block=32)


def test_a_function_is_called_in_every_thread(capfd):
    x = np.arange(50, dtype=np.int32)
    twice, is_odd = jax.jit(_twice)(x)
    np.testing.assert_array_equal(twice, 2 * x)
    np.testing.assert_array_equal(is_odd, x % 2 == 1)
    assert capfd.readouterr().out == ""


@pytest.mark.slow
def test_it_compiles_for_a_gpu_that_is_not_there(tmp_path):
    wp = pytest.importorskip("warp")
    x = np.arange(50, dtype=np.int32)
    types = kernels.array_types([x], [(x.shape, x.dtype), (x.shape, np.dtype("bool"))])
    kernel = kernels.kernel("twice", TWICE, ("count",), types, 2, 32)
    wp.compile_aot_module(kernel.kernel.module, arch=90, module_dir=tmp_path, use_ptx=True)
    assert list(tmp_path.glob("*.ptx"))
