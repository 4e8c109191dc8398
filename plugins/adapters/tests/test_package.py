"""The package itself: what its import leaves alone, and what it says where a library is missing."""

import subprocess
import sys

import pytest

MODULES = {"brax": "brax", "dm_env": "dm-env", "gymnasium": "gymnasium"}
"""The modules, which are called like the libraries, and their extras."""


def run(program):
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def test_importing_it_imports_no_library():
    program = f"import sys, envcore_adapters; assert not {{'jax', *{list(MODULES)}}} & set(sys.modules)"
    assert run(program) == (0, "")


@pytest.mark.parametrize("library", MODULES)
def test_a_missing_library(library):
    _, error = run(f"import sys; sys.modules['{library}'] = None; import envcore_adapters.{library}")
    assert error.count("Traceback") == 1
    message = f"envcore_adapters.{library} needs {library}: pip install 'envcore-adapters[{MODULES[library]}]'"
    assert error.splitlines()[-1] == f"ModuleNotFoundError: {message}"


def test_what_else_is_missing_is_told_as_it_is():
    _, error = run(
        "import sys; sys.modules['gymnasium'] = None; sys.modules['flax'] = None; import envcore_adapters.brax"
    )
    assert error.splitlines()[-1].startswith("ModuleNotFoundError: import of flax")
