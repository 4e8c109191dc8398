"""`python -m envcore_gymnax SCRIPT ARGS...`, in a process of its own."""

import subprocess
import sys

import pytest

SCRIPT = """
import sys

import beside
import gymnax
import jax

env, params = gymnax.make("CartPole-v1")
key = jax.random.key(0)
_, state = env.reset(key, params)
print(__name__, gymnax.__name__, beside.HERE, sys.argv, len(env.step(key, state, 0, params)))
"""


def run(*args, cwd=None):
    command = [sys.executable, "-W", "error", "-m", "envcore_gymnax", *args]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)


@pytest.mark.slow
@pytest.mark.parametrize(("options", "values"), [((), 5), (("--six-values",), 6)])
def test_a_script_is_run_as_it_is(tmp_path, options, values):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    (tmp_path / "beside.py").write_text("HERE = True")
    done = run(*options, str(script), "--six-values", "-x")
    assert done.stdout == f"__main__ envcore_gymnax True {[str(script), '--six-values', '-x']} {values}\n", done.stderr


@pytest.mark.slow
def test_a_module_is_run_as_python_does(tmp_path):
    (tmp_path / "test_theirs.py").write_text(
        "import gymnax\n\n\ndef test_alias():\n    assert gymnax.__name__ == 'envcore_gymnax'\n"
    )
    done = run("-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path), cwd=tmp_path)
    assert "1 passed" in done.stdout, done.stderr
    assert "No module named no_such_module" in run("-m", "no_such_module").stderr.splitlines()[-1]


@pytest.mark.slow
def test_what_cannot_be_run(tmp_path):
    done = run(str(tmp_path / "absent.py"))
    assert (done.returncode, done.stderr.count("usage: python -m envcore_gymnax")) == (2, 1)
    assert done.stderr.splitlines()[-1].endswith(f"the file {tmp_path / 'absent.py'} does not exist")
    assert run().returncode == 2
