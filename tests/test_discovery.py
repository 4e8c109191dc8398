"""Discovery with real wheels in separate virtual environments."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from wheels import ROOT, SUITES, Probe, Venv, Workshop

pytestmark = pytest.mark.slow

CATALOGUE = """
    import sys, envcore
    result = {
        "ids": [each.qualified_id for each in envcore.registry.values()],
        "plugins": {each.distribution: [each.status, each.error] for each in envcore.registry.plugins},
        "modules": sorted(sys.modules),
        "file": envcore.__file__,
    }
"""

HOOK = """
    from envcore.plugins import hookimpl
    from envcore.specs import EnvSpec

    @hookimpl
    def envcore_env_specs({arguments}):
        {body}
"""

# It writes to stderr, so that a test can see whether it was imported.
LOUD = "import sys\nsys.stderr.write('loud-suite is imported')\nraise RuntimeError('loud-suite')\n"

TWIN = """EnvSpec("Twin-v0", "envcore_example.windy_gridworld:WindyGridworld", {{"rows": {rows}}})"""


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return Workshop(tmp_path_factory.mktemp("workshop"))


def hook(body: str, arguments: str = "") -> str:
    return HOOK.format(body=body, arguments=arguments)


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


@pytest.fixture(scope="module")
def core_alone(workshop: Workshop) -> Venv:
    return workshop.venv("core", "envcore")


def test_core_alone(core_alone: Venv) -> None:
    catalogue = core_alone.probe(CATALOGUE).result
    assert (catalogue["ids"], catalogue["plugins"]) == ([], {})
    assert catalogue["file"].startswith(str(core_alone.folder))
    assert "jax" not in catalogue["modules"]


@pytest.mark.parametrize(
    ("env_id", "advice"),
    [
        ("CartPole-v1", "pip install envcore-classic-control"),
        ("SpaceInvaders-MinAtar", "pip install envcore-minatar"),
        ("DeepSea-bsuite", "pip install envcore-bsuite"),
        ("FourRooms-misc", "pip install envcore-misc"),
        ("Nothing", "pip install 'envcore[all]'"),
    ],
)
def test_core_alone_says_what_to_install(core_alone: Venv, env_id: str, advice: str) -> None:
    error = error_of_make(core_alone, env_id)
    assert error.startswith(f"UnknownEnvironmentError: no installed environment is called '{env_id}'.")
    assert advice in error


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


def test_an_uninstalled_suite_is_gone(workshop: Workshop) -> None:
    venv = workshop.venv("uninstalled", "envcore[classic-control]", "envcore-example")
    assert any("WindyGridworld-v0" in env_id for env_id in venv.probe(CATALOGUE).result["ids"])
    venv.uninstall("envcore-example")
    catalogue = venv.probe(CATALOGUE).result
    assert set(catalogue["plugins"]) == {"envcore-classic-control"}
    assert not any("WindyGridworld-v0" in env_id for env_id in catalogue["ids"])
    assert "Did you mean" not in error_of_make(venv, "WindyGridworld-v0")


# A broken plugin does not affect others.

BROKEN = {
    "missing-suite": ("import no_such_package", "ModuleNotFoundError: No module named 'no_such_package'"),
    "raising-suite": (hook("raise OSError('no disk today')"), "OSError: no disk today"),
    "argument-suite": (hook("return []", "config"), "PluginValidationError: Plugin 'argument_suite' for hook"),
    "row-suite": (hook("return ['Row-v0']"), "row 0 of envcore_env_specs() is of type str, not EnvSpec"),
    "newer-suite": (hook("return []"), "it needs envcore>=99, but envcore "),
}


@pytest.fixture(scope="module")
def zoo(workshop: Workshop) -> Venv:
    """A working suite among broken ones."""
    venv = workshop.venv("zoo", "envcore-classic-control")
    for distribution, (code, _) in BROKEN.items():
        requires = "envcore>=99" if distribution == "newer-suite" else "envcore"
        workshop.build_plugin(distribution, code, requires=requires)
    venv.install(*BROKEN, force=True)
    return venv


@pytest.fixture(scope="module")
def catalogue_of_zoo(zoo: Venv) -> Probe:
    return zoo.probe(CATALOGUE)


@pytest.mark.parametrize("distribution", BROKEN)
def test_broken_plugin(catalogue_of_zoo: Probe, distribution: str) -> None:
    status, error = catalogue_of_zoo.result["plugins"][distribution]
    assert status == "broken"
    assert error.startswith(BROKEN[distribution][1])
    warning = f"PluginWarning: plugin {distribution} 1.2 ({distribution.replace('-', '_')}) is left out: {error}."
    assert catalogue_of_zoo.stderr.count(warning) == 1


def test_a_good_plugin_survives_broken_ones(catalogue_of_zoo: Probe) -> None:
    assert catalogue_of_zoo.result["plugins"]["envcore-classic-control"] == ["loaded", ""]
    assert "envcore-classic-control:CartPole-v1" in catalogue_of_zoo.result["ids"]


def test_an_unknown_id_repeats_the_broken_plugins(zoo: Venv) -> None:
    error = error_of_make(zoo, "Row-v0")
    assert all(f"Plugin {distribution} is broken: {reason}" in error for distribution, (_, reason) in BROKEN.items())


def test_strict_mode_raises_with_the_cause(zoo: Venv) -> None:
    process = zoo.run("import envcore; list(envcore.registry)", ENVCORE_STRICT_PLUGINS="1")
    assert process.returncode == 1
    assert "raise OSError('no disk today')" not in process.stderr  # the first one by name is raised
    assert "are declared in the hookimpl but can not be found in the hookspec" in process.stderr
    assert process.stderr.splitlines()[-1].startswith("envcore.errors.PluginError: plugin argument-suite is broken:")


def test_damaged_and_left_over_metadata_affects_no_plugin(workshop: Workshop) -> None:
    venv = workshop.venv("damaged", "envcore-classic-control")
    (info,) = venv.folder.glob("lib/python*/site-packages/envcore_classic_control-*.dist-info")
    shutil.copytree(info, info.with_name("~nvcore_classic_control-0.0.9.dist-info"))
    older = shutil.copytree(info, info.with_name("envcore_classic_control-0.0.1.dist-info"))
    (older / "METADATA").write_text("Metadata-Version: 2.4\nName: envcore-classic-control\nVersion: 0.0.1\n")
    nameless = shutil.copytree(info, info.with_name("envcore_classic_control-9.dist-info"))
    (nameless / "METADATA").unlink()
    stranger = info.with_name("stranger-3.0.dist-info")
    stranger.mkdir()
    (stranger / "METADATA").write_text("Metadata-Version: 2.4\nName: Stranger\nVersion: 3.0\n")
    for damage in (b"[console_scripts]\ntool", b"[console_scripts]\nt\xf6\xf6l = tool:main\n"):
        (stranger / "entry_points.txt").write_bytes(damage)
        catalogue = venv.probe(CATALOGUE)
        status, error = catalogue.result["plugins"].pop("stranger")
        assert status == "unreadable"
        assert error.startswith("its entry_points.txt is damaged (")
        assert catalogue.result["plugins"] == {"envcore-classic-control": ["loaded", ""]}
        assert "envcore-classic-control:CartPole-v1" in catalogue.result["ids"]
        assert catalogue.stderr == ""
        off = venv.probe(CATALOGUE, ENVCORE_PLUGIN_AUTOLOAD="0").result["plugins"]
        assert off == {"envcore-classic-control": ["disabled", "ENVCORE_PLUGIN_AUTOLOAD is off"]}


def test_a_suite_replaces_another_project_called_envcore(workshop: Workshop) -> None:
    """The package index has one, of this version: resolution refuses it, because every suite needs a later core."""
    workshop.build_plugin("envcore", "print('hello')", requires="packaging", version="0.1.1")
    venv = workshop.venv("other", "envcore==0.1.1")
    assert venv.run("import envcore").stdout == "hello\n"
    venv.install("envcore-minatar")
    assert "envcore-minatar:Breakout-MinAtar" in venv.probe(CATALOGUE).result["ids"]
    venv.install("envcore==0.1.1", force=True)
    assert "'envcore' is not a package" in venv.run("import envcore_minatar").stderr


# Disabled plugins are not imported.


@pytest.fixture(scope="module")
def loud(workshop: Workshop) -> Venv:
    workshop.build_plugin("loud-suite", LOUD)
    return workshop.venv("loud", "envcore-classic-control", "loud-suite")


def test_the_import_of_the_loud_suite_is_visible(loud: Venv) -> None:
    assert "loud-suite is imported" in loud.probe(CATALOGUE).stderr


@pytest.mark.parametrize("name", ["loud-suite", "Loud_Suite", "main"])
def test_disabled_by_name(loud: Venv, name: str) -> None:
    catalogue = loud.probe(CATALOGUE, ENVCORE_DISABLE_PLUGINS=f"{name},")
    assert catalogue.result["plugins"] == {
        "envcore-classic-control": ["loaded", ""],
        "loud-suite": ["disabled", "ENVCORE_DISABLE_PLUGINS names it"],
    }
    assert "loud_suite" not in catalogue.result["modules"]
    assert catalogue.stderr == ""


def test_autoload_off(loud: Venv) -> None:
    catalogue = loud.probe(CATALOGUE, ENVCORE_PLUGIN_AUTOLOAD="0")
    off = ["disabled", "ENVCORE_PLUGIN_AUTOLOAD is off"]
    assert catalogue.result["plugins"] == {"envcore-classic-control": off, "loud-suite": off}
    assert catalogue.result["ids"] == []
    assert not {"loud_suite", "envcore_classic_control"} & set(catalogue.result["modules"])
    assert catalogue.stderr == ""


# Two suites with one id.


def test_a_clash_of_ids(workshop: Workshop) -> None:
    for distribution, rows in (("b-twin", 5), ("a-twin", 6)):
        code = hook(f"return [{TWIN.format(rows=rows)}]")
        workshop.build_plugin(distribution, code, requires="envcore-example")
    venv = workshop.venv("twins", "b-twin", "a-twin")
    assert [env_id for env_id in venv.probe(CATALOGUE).result["ids"] if "Twin" in env_id] == [
        "a-twin:Twin-v0",
        "b-twin:Twin-v0",
    ]
    assert error_of_make(venv, "Twin-v0") == (
        "UnknownEnvironmentError: 'Twin-v0' is announced by several distributions: "
        "use make('a-twin:Twin-v0') or make('b-twin:Twin-v0')."
    )
    code = """
        import envcore
        result = [envcore.make(f"{name}:Twin-v0")[0].rows for name in ("a-twin", "b-twin")]
    """
    assert venv.probe(code).result == [6, 5]


# The steps of the example's README.

ORDINARY = """
    import jax.numpy as jnp

    def test_ordinary_numerics():
        flag = jnp.array(True)
        assert float(1.0 * flag + jnp.float32(1)) == 2
        assert (jnp.ones((2, 1)) + jnp.ones(3) * flag).shape == (2, 3)
"""


def test_an_author_s_ordinary_tests_pass_with_the_example_s_settings(tmp_path: Path) -> None:
    (tmp_path / "test_ordinary.py").write_text(textwrap.dedent(ORDINARY))
    settings = ROOT / "plugins" / "example" / "pyproject.toml"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-c",
        settings,
        "--rootdir",
        tmp_path,
        "-p",
        "no:cacheprovider",
        tmp_path,
    ]
    process = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert process.returncode == 0, process.stdout


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
