"""Tries an installed distribution. Runs inside the environment that its wheel is installed in.

python -I smoke.py envcore-minatar --announces
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import sysconfig
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("distribution")
    parser.add_argument("--announces", action="store_true", help="it has to announce environments")
    options = parser.parse_args()
    os.environ["ENVCORE_STRICT_PLUGINS"] = "1"
    try_listing = try_suite if options.announces else try_core
    print(try_listing(options.distribution))


def try_core(distribution: str) -> str:
    """The core alone is importable and says what to do next."""
    import envcore

    installed = Path(envcore.__file__).is_relative_to(sys.prefix)
    expect(installed, f"`import {distribution}` takes {envcore.__file__}, not the wheel")
    listing = run_envcore("list")
    expect("pip install" in listing, f"`envcore list` does not say what to install, but {listing!r}")
    return "says that nothing is installed"


def try_suite(distribution: str) -> str:
    """Everything that is announced is listed and can be played, unless it needs data that are not here."""
    import envcore
    from envcore.errors import DatasetError

    ids = [each.spec.id for each in envcore.list_envs() if each.distribution == distribution]
    expect(bool(ids), "announces no environments")
    listing = run_envcore("list").split()
    without_data: list[str] = []
    for env_id in ids:
        expect(env_id in listing, f"`envcore list` does not show {env_id}")
        try:
            play(f"{distribution}:{env_id}")
        except DatasetError:
            without_data.append(env_id)
        except Exception as error:
            raise SystemExit(f"{env_id}: {type(error).__name__}: {' '.join(str(error).split())}") from error
    played = f"makes, resets and steps {', '.join(each for each in ids if each not in without_data)}"
    return played + (f"; without data: {', '.join(without_data)}" if without_data else "")


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


def run_envcore(*arguments: str) -> str:
    """The output of the console script that the wheel has installed."""
    script = Path(sysconfig.get_path("scripts"), "envcore")
    done = subprocess.run([script, *arguments], capture_output=True, text=True, check=False)
    expect(done.returncode == 0, f"`envcore {' '.join(arguments)}` fails: {done.stderr.strip()}")
    return done.stdout


def expect(condition: bool, complaint: str) -> None:
    if not condition:
        raise SystemExit(complaint)


if __name__ == "__main__":
    main()
