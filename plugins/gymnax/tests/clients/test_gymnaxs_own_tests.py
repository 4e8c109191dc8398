"""gymnax's own tests run on envcore-gymnax: those in the source distributions of gymnax 0.0.9 and 1.0.1.

Each that fails is named below, with its reason; one that passes after all has to be taken off the list.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
from pathlib import Path
from xml.etree import ElementTree

import pytest

# pyright: basic

pytestmark = pytest.mark.client

GRADIENTS = "envcore's differentiable environments are always so; gymnax stops gradients until it is asked for them"
DTYPES = "a Discrete has int32, always"
UNSUPPORTED = ("int8", "uint32", "bool", "float32", "not-a-dtype")
OPTIONS = {"0.0.9": [], "1.0.1": ["--ignore=test_visualizer.py"]}
"""The file left out tests how gymnax 1.0.1 itself draws with matplotlib."""
EXCEPTIONS = {
    "0.0.9": {},
    "1.0.1": {
        "test_configured_copy_enables_supported_environment_without_mutating_original": GRADIENTS,
        "test_default_pendulum_preserves_stopped_transition_gradients": GRADIENTS,
        "test_registered_environment_resets_and_steps_when_jitted[MNISTBandit-bsuite]": "load_mnist is not replaced",
        "test_discrete_rejects_int64_when_x64_is_disabled": DTYPES,
        **{f"test_discrete_rejects_unsupported_dtypes[{name}]": DTYPES for name in UNSUPPORTED},
        "test_spaces_have_readable_constructor_style_representations": "spaces are shown as envcore shows them",
    },
}

CONFTEST = """
import types

from gymnax.environments.bsuite import mnist

mnist.load_mnist = types.SimpleNamespace(load_mnist=None)


def pytest_generate_tests(metafunc):
    if "viz_env_name" in metafunc.fixturenames:
        names = ["MetaMaze-misc", "PointRobot-misc", "Catch-bsuite", "SpaceInvaders-MinAtar"]
        metafunc.parametrize("viz_env_name", names)
"""
"""Which environments the tests of 0.0.9 use; gymnax's own file of this name is not in its distribution.

The tests of 1.0.1 replace `load_mnist`, which envcore-gymnax does not have.
"""

PROGRAM = """
import sys

import envcore_gymnax

envcore_gymnax.install(six_values=sys.argv[1] == "1.0.1")

import pytest

sys.exit(pytest.main(sys.argv[2:]))
"""


@pytest.mark.parametrize("version", ["0.0.9", pytest.param("1.0.1", marks=pytest.mark.long)])
def test_gymnaxs_own_tests(version: str, tmp_path: Path) -> None:
    options = ["--quiet", "--no-deps", "--no-binary", ":all:", "--dest", str(tmp_path)]
    subprocess.run([sys.executable, "-m", "pip", "download", *options, f"gymnax=={version}"], check=True)
    with tarfile.open(tmp_path / f"gymnax-{version}.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    folder = tmp_path / f"gymnax-{version}" / "tests"
    (folder / "conftest.py").write_text(CONFTEST)
    program = [sys.executable, "-c", PROGRAM, version, "-p", "no:cacheprovider", "-q", "--junitxml=found.xml"]
    done = subprocess.run([*program, *OPTIONS[version], "."], cwd=folder, capture_output=True, text=True, check=False)
    cases = list(ElementTree.parse(folder / "found.xml").iter("testcase"))
    failed = {case.get("name") for case in cases if case.find("failure") is not None or case.find("error") is not None}
    assert len(cases) > len(failed), done.stdout
    assert failed == set(EXCEPTIONS[version]), done.stdout[-10_000:]
