"""Discovery with real wheels in separate virtual environments."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import pytest
from envcore.suggestions import how_to_install
from wheels import ROOT, SUITES, Venv, Workshop

pytestmark = pytest.mark.slow

CATALOGUE = """
    import sys, envcore
    result = {
        "ids": [each.qualified_name for each in envcore.registry.values()],
        "plugins": {each.distribution: [each.status, each.error] for each in envcore.registry.plugins},
        "modules": sorted(sys.modules),
        "file": envcore.__file__,
    }
"""

HOOK = """
    from envcore.plugins import hookimpl
    from envcore.specs import EnvSpec

    @hookimpl
    def envcore_env_specs():
        {body}
"""


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return Workshop(tmp_path_factory.mktemp("workshop"))


def error_of_make(venv: Venv, env_id: str) -> str:
    """The error of `make` for an id that it refuses before importing JAX."""
    code = f"""
        import sys, envcore
        try:
            envcore.make({env_id!r})
        except envcore.EnvcoreError as error:
            result = f"{{type(error).__name__}}: {{error}}"
        assert "jax" not in sys.modules
    """
    return venv.probe(code).result


# Installed plugins are found.


def test_core_alone(workshop: Workshop) -> None:
    core_alone = workshop.venv("core", "envcore")
    catalogue = core_alone.probe(CATALOGUE).result
    assert (catalogue["ids"], catalogue["plugins"]) == ([], {})
    assert catalogue["file"].startswith(str(core_alone.folder))
    assert "jax" not in catalogue["modules"]
    assert how_to_install("envcore-minatar") in error_of_make(core_alone, "SpaceInvaders-MinAtar")


def test_one_suite(workshop: Workshop) -> None:
    venv = workshop.venv("one", "envcore[classic-control]")
    catalogue = venv.probe(CATALOGUE).result
    assert catalogue["plugins"] == {"envcore-classic-control": ["loaded", ""]}
    assert "envcore-classic-control:CartPole-v1" in catalogue["ids"]
    assert "jax" not in catalogue["modules"]
    code = """
        import sys, envcore, jax
        env, params = envcore.make("CartPole-v1")
        obs, state = env.reset(jax.random.key(0), params)
        obs, state, reward, done, info = env.step(jax.random.key(1), state, 1, params)
        suites = sorted(name for name in sys.modules if name.startswith("envcore_classic_control."))
        result = [obs.shape, float(reward), bool(done), suites]
    """
    shape, reward, done, modules = venv.probe(code).result
    assert (shape, reward, done) == ([4], 1.0, False)
    assert modules == [f"envcore_classic_control.{name}" for name in ("cartpole", "plugin")]


def test_all_suites(workshop: Workshop) -> None:
    catalogue = workshop.venv("all", "envcore[all]").probe(CATALOGUE)
    assert catalogue.result["plugins"] == {
        name: ["loaded", ""] for name in (*SUITES, "envcore-baselines", "envcore-testing", "envcore-viewer")
    }
    ids = [env_id.partition(":")[2] for env_id in catalogue.result["ids"]]
    assert len(set(ids)) == len(ids) > 0
    assert "jax" not in catalogue.result["modules"]
    assert catalogue.stderr == ""


# A broken plugin does not affect others; core/tests/test_plugins.py has the many ways to be broken.

RAISING = HOOK.format(body="raise OSError('no disk today')")


def test_a_good_plugin_survives_a_broken_and_a_newer_one(workshop: Workshop) -> None:
    workshop.build_plugin("raising-suite", RAISING)
    workshop.build_plugin("newer-suite", HOOK.format(body="return []"), requires="envcore>=99")
    venv = workshop.venv("zoo", "envcore-classic-control")
    venv.install("raising-suite", "newer-suite", force=True)
    catalogue = venv.probe(CATALOGUE)
    assert catalogue.result["plugins"].pop("envcore-classic-control") == ["loaded", ""]
    assert "envcore-classic-control:CartPole-v1" in catalogue.result["ids"]
    errors = {"raising-suite": "OSError: no disk today", "newer-suite": "it needs envcore>=99, but envcore "}
    for name, (status, error) in catalogue.result["plugins"].items():
        assert status == "broken"
        assert error.startswith(errors.pop(name))
        assert catalogue.stderr.count(f"PluginWarning: plugin {name} 1.2 is left out") == 1
        off = venv.probe(CATALOGUE, ENVCORE_DISABLE_PLUGINS="raising-suite,newer-suite")
        assert off.result["plugins"][name] == ["disabled", "it is listed in ENVCORE_DISABLE_PLUGINS"]
        assert off.stderr == ""
    assert not errors


# The steps of the example's README.

# uv's environment gets the Python of these tests, and copies of the packages that uv would download.
STAND_IN = """
    uv() {
        if [ "$1" = venv ]; then
            command uv venv --python "$PYTHON_OF_TESTS"
            cp -R "$SITE_PACKAGES"/. .venv/lib/python*/site-packages
        else
            command uv "$@"
        fi
    }
"""


def test_the_commands_of_the_examples_readme(workshop: Workshop) -> None:
    outside = workshop.folder / "outside"
    example = outside / "envcore" / "plugins" / "example"
    for folder in ("core", "plugins/runs", "plugins/cli", "plugins/testing", "plugins/example"):
        ignored = shutil.ignore_patterns(".*", "__pycache__", "dist", "" if folder == "plugins/example" else "tests")
        shutil.copytree(ROOT / folder, outside / "envcore" / folder, ignore=ignored)
    commands = re.findall(r"^```bash\n(.*?)^```$", (example / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    script = "\n".join(["set -eux", STAND_IN, *commands])
    process = subprocess.run(
        ["bash", "-c", script],
        cwd=outside,
        env={
            **workshop.variables,
            "PYTHON_OF_TESTS": sys.executable,
            "SITE_PACKAGES": str(workshop.site_packages),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, f"{process.stdout}\n{process.stderr}"
    assert re.search(r"^WindyGridworld-v0 +my-suite ", process.stdout, re.MULTILINE)
    assert (outside / "my-suite" / "dist" / "my_suite-0.2.0-py3-none-any.whl").exists()
    assert not (outside / "my-suite" / "src" / "envcore_example").exists()

    code = """
        import envcore, jax, my_suite
        env, params = envcore.make("my-suite:WindyGridworld-v0")
        obs, state = env.reset(jax.random.key(0), params)
        obs, state, reward, done, info = env.step(jax.random.key(1), state, 1, params)
        result = [my_suite.__file__, type(env).__module__, obs.tolist(), float(reward)]
    """
    venv = Venv(outside / "my-suite" / ".venv", workshop.variables)
    file, module, obs, reward = venv.probe(code).result
    assert "site-packages" in file
    assert (module, obs, reward) == ("my_suite.windy_gridworld", [3, 1], -1.0)
