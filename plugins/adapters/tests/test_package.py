"""The package itself: what its import leaves alone, and what it says where a library is missing."""

import subprocess
import sys

import pytest
from envcore.suggestions import how_to_install

MODULES = {
    "brax": ("brax", "brax"),
    "dm_env": ("dm_env", "dm-env"),
    "gymnasium": ("gymnasium", "gymnasium"),
    "sb3": ("stable_baselines3", "sb3"),
}
"""The modules, their libraries and their extras."""


def run(program):
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def test_importing_it_imports_no_library():
    libraries = ["jax", *(library for library, _ in MODULES.values())]
    program = f"import sys, envcore_adapters; assert not set({libraries}) & set(sys.modules)"
    assert run(program) == (0, "")


@pytest.mark.slow
@pytest.mark.parametrize("module", MODULES)
def test_a_missing_library(module):
    library, extra = MODULES[module]
    _, error = run(f"import sys; sys.modules['{library}'] = None; import envcore_adapters.{module}")
    assert error.count("Traceback") == 1
    message = f"envcore_adapters.{module} needs {library}: {how_to_install(f'envcore-adapters[{extra}]')}"
    assert error.splitlines()[-1] == f"ModuleNotFoundError: {message}"
