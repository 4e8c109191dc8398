"""Tests an installed distribution. Runs in the environment in which its wheel is installed.

python -I smoke.py envcore-minatar --announces
"""

from __future__ import annotations

import argparse
import functools
import importlib
import importlib.metadata
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

_NEEDS_AN_EXTRA = {"envcore-gymnax": ("visualize",)}
"""The names of adapters that can only be imported with an extra."""

_ADAPTERS = {"envcore-adapters": ("brax", "dm_env", "gymnasium")}
"""The modules of a distribution that has one for each library."""

_ANNOUNCES_WHAT_IS_INSTALLED = ("envcore-bridges",)
"""Bridges to libraries, of which none is installed here."""


CORE = "envcore"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("distribution")
    parser.add_argument(
        "--announces", action="store_true", help="the distribution must announce environments or commands"
    )
    parser.add_argument("--commands", action="store_true", help="envcore-cli is installed too, and must show them")
    options = parser.parse_args()
    os.environ["ENVCORE_STRICT_PLUGINS"] = "1"
    if options.commands:
        print(try_commands(options.distribution))
    elif options.announces:
        print(try_plugin(options.distribution))
    else:
        others = {CORE: try_core, "envcore-cli": try_command_line}
        print(others.get(options.distribution, functools.partial(try_adapter, options.distribution))())


def try_core() -> str:
    """The core alone can be imported, has no command, and says what to install."""
    import envcore

    installed = Path(envcore.__file__).is_relative_to(sys.prefix)
    expect(installed, f"`import envcore` imports {envcore.__file__}, not the wheel")
    expect(not console_script().exists(), "it installs the command `envcore`, which is envcore-cli's")
    try:
        envcore.make("CartPole-v1")
    except envcore.EnvcoreError as error:
        expect("pip install" in str(error), f"`make` does not say what to install: {str(error)!r}")
    return "says that nothing is installed"


def try_command_line() -> str:
    """The command is installed, and says what to install."""
    listing = run_envcore("list")
    expect("pip install" in listing, f"`envcore list` does not say what to install: {listing!r}")
    expect("envcore 0" in run_envcore("--version"), "`envcore --version` does not show the version")
    return "lists that nothing is installed"


def try_adapter(distribution: str) -> str:
    """Everything that it offers can be imported with its requirements alone, or the extras of the libraries."""
    files = importlib.metadata.files(distribution) or []
    package = next(path.parts[0] for path in files if path.name == "py.typed")
    names: list[str] = []
    for path in [f"{package}.{name}" for name in _ADAPTERS.get(distribution, ())] or [package]:
        module = importlib.import_module(path)
        public = getattr(module, "__all__", [name for name in dir(module) if name.startswith("from_")])
        offered = [name for name in public if name not in _NEEDS_AN_EXTRA.get(distribution, ())]
        for name in offered:
            getattr(module, name)
        names += offered
    return f"imports {', '.join(names)}"


def try_plugin(distribution: str) -> str:
    """All announcements are listed, and environments can be stepped unless they need data.

    Of a distribution whose environments all belong to families, only the first is stepped.
    """
    import envcore
    from envcore.errors import DatasetError

    found = [each.spec for each in envcore.registry.values() if each.distribution == distribution]
    ids = [spec.id for spec in found if not spec.family] or [spec.id for spec in found[:1]]
    commands = announced_commands(distribution)
    if distribution in _ANNOUNCES_WHAT_IS_INSTALLED:
        return try_adapter(distribution)
    expect(bool(ids or commands), "announces no environments and no commands")
    without_data: list[str] = []
    for env_id in ids:
        try:
            play(f"{distribution}:{env_id}")
        except DatasetError:
            without_data.append(env_id)
        except Exception as error:
            raise SystemExit(f"{env_id}: {type(error).__name__}: {' '.join(str(error).split())}") from error
    played = ", ".join(each for each in ids if each not in without_data)
    findings = [f"makes, resets and steps {played}"] if played else []
    return "; ".join(findings + ([f"without data: {', '.join(without_data)}"] if without_data else []))


def try_commands(distribution: str) -> str:
    """The command line lists the environments, and imports each command."""
    import envcore

    listing = run_envcore("list").split()
    for env_id, found in envcore.registry.items():
        expect(bool(found.spec.family) or env_id in listing, f"`envcore list` does not show {env_id}")
    commands = announced_commands(distribution)
    for name in commands:
        expect("Usage" in run_envcore(name, "--help"), f"`envcore {name} --help` shows no usage")
    return f"has the command{'s' * (len(commands) > 1)} {', '.join(commands)}" if commands else ""


def announced_commands(distribution: str) -> list[str]:
    """The names of the commands that a distribution announces."""
    import envcore

    plugins = [each for each in envcore.registry.plugins if each.distribution == distribution]
    return [spec.name for plugin in plugins for spec in plugin.specs if spec.kind == "command"]


def play(env_id: str) -> None:
    """Makes, resets and steps an environment."""
    import envcore
    import jax

    key_reset, key_act, key_step = jax.random.split(jax.random.key(0), 3)
    env, params = envcore.make(env_id)
    obs, state = env.reset(key_reset, params)
    expect(bool(env.observation_space(params).contains(obs)), f"{env_id} resets to {obs}, outside its space")
    action = env.action_space(params).sample(key_act)
    obs, state, _, _, _ = env.step(key_step, state, action, params)
    expect(bool(env.observation_space(params).contains(obs)), f"{env_id} steps to {obs}, outside its space")


def console_script() -> Path:
    """Where the command `envcore` is, if it is installed."""
    return Path(sysconfig.get_path("scripts"), "envcore")


def run_envcore(*arguments: str) -> str:
    """The output of the command `envcore`."""
    done = subprocess.run([console_script(), *arguments], capture_output=True, text=True, check=False)
    expect(done.returncode == 0, f"`envcore {' '.join(arguments)}` fails: {done.stderr.strip()}")
    return done.stdout


def expect(condition: bool, complaint: str) -> None:
    if not condition:
        raise SystemExit(complaint)


if __name__ == "__main__":
    main()
