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

FIGURE = "closes a figure of matplotlib's; envcore's pictures need no matplotlib"
ORIGINAL = "replaces the environment of Gymnasium's that gymnax draws with; envcore draws itself"
GRADIENTS = "envcore's differentiable environments are always so; gymnax stops gradients until it is asked for them"
CLASSIC_CONTROL = ("Acrobot-v1", "CartPole-v1", "MountainCar-v0", "MountainCarContinuous-v0", "Pendulum-v1")
DRAWN = ("Catch-bsuite", "MetaMaze-misc", "Seaquest-MinAtar", "SpaceInvaders-MinAtar")
EXCEPTIONS = {
    "0.0.9": {},
    "1.0.1": {
        **{f"test_native_visualizer_writes_temporary_animation[{env_id}]": FIGURE for env_id in DRAWN},
        **{f"test_gymnasium_visualizer_writes_temporary_animation[{env_id}]": FIGURE for env_id in CLASSIC_CONTROL},
        **{
            f"test_gymnasium_frame_adapter_transfers_state_params_and_closes[{env_id}]": ORIGINAL
            for env_id in CLASSIC_CONTROL
        },
        "test_configured_copy_enables_supported_environment_without_mutating_original": GRADIENTS,
        "test_default_pendulum_preserves_stopped_transition_gradients": GRADIENTS,
        "test_spaces_have_readable_constructor_style_representations": "spaces are shown as envcore shows them",
    },
}

CONFTEST = """
def pytest_generate_tests(metafunc):
    if "viz_env_name" in metafunc.fixturenames:
        names = ["MetaMaze-misc", "PointRobot-misc", "Catch-bsuite", "SpaceInvaders-MinAtar"]
        metafunc.parametrize("viz_env_name", names)
"""
"""Which environments the tests of 0.0.9 use; gymnax's own file of this name is not in its distribution."""

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
    program = [sys.executable, "-c", PROGRAM, version, "-p", "no:cacheprovider", "-q", "--junitxml=found.xml", "."]
    done = subprocess.run(program, cwd=folder, capture_output=True, text=True, check=False)
    cases = list(ElementTree.parse(folder / "found.xml").iter("testcase"))
    failed = {case.get("name") for case in cases if case.find("failure") is not None or case.find("error") is not None}
    assert len(cases) > len(failed), done.stdout
    assert failed == set(EXCEPTIONS[version]), done.stdout[-10_000:]
