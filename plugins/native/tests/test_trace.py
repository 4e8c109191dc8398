import re

import envcore
import pytest
from envcore.engine import arguments
from envcore.errors import InvalidArgumentError
from envcore.rollout import random_policy
from envcore.wrappers import Batched, NormalizeObservation
from envcore_native import kernels
from envcore_native.scalars import BY_STEP, Graph
from envcore_native.trace import lower, shared_columns


def _lower(env, collect):
    return lower(env, random_policy(env), collect, arguments.default_params(env), None)


def test_what_is_not_collected_is_not_computed():
    batch = Batched(envcore.make("Breakout-MinAtar")[0], 8)
    reward, everything = (_lower(batch, collect) for collect in (lambda t: t.reward, lambda t: (t.obs, t.reward)))
    assert len(reward.rollout) < len(everything.rollout) / 2
    assert reward.width == everything.width


def test_the_rollout_does_not_depend_on_the_number_of_environments():
    env, _ = envcore.make("CartPole-v1")
    few, many = (_lower(Batched(env, n), lambda t: t.obs) for n in (8, 4096))
    assert re.sub(r"v\d+", "v", few.rollout) == re.sub(r"v\d+", "v", many.rollout)
    assert few.table != many.table


def test_the_environments_share_words_of_keys_alone():
    assert _lower(Batched(envcore.make("CartPole-v1")[0], 8), lambda t: t.obs).width <= 16


def test_a_state_of_the_whole_batch_is_refused():
    batch = NormalizeObservation(Batched(envcore.make("CartPole-v1")[0], 8))
    with pytest.raises(InvalidArgumentError, match=r"state.* is shared by all environments"):
        _lower(batch, lambda t: t.obs)


def test_what_depends_on_the_step_alone_becomes_a_column():
    graph = Graph()
    key = [graph.input(f"key_{i}", "uint32", BY_STEP) for i in (0, 1)]
    x = graph.input("x", "uint32")
    word = graph.apply("op_xor", "uint32", *key)
    flag = graph.apply("op_lt", "bool", *key)
    end = graph.apply("op_select", "uint32", flag, graph.apply("op_add", "uint32", word, x), x)
    assert shared_columns(key, [end]) == [*key, word, flag]


@pytest.mark.slow
def test_a_rollout_compiles_for_a_gpu_that_is_not_there(tmp_path):
    wp = pytest.importorskip("warp")
    program = _lower(Batched(envcore.make("Catch-bsuite")[0], 8), lambda t: (t.obs, t.done))
    pointers = re.findall(r"(\w+)\* __restrict__ (\w+)", program.rollout)
    types = tuple((kind, 3 if "all_" in name else 1) for kind, name in pointers)
    kernel = kernels.kernel(program.rollout, types, sum("out" in name for _, name in pointers), 32)
    wp.compile_aot_module(kernel.kernel.module, arch=90, module_dir=tmp_path, use_ptx=True)
    assert "st.shared.v4" in next(tmp_path.glob("*.ptx")).read_text()
