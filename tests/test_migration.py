"""The tables of the page that says what each line of another library becomes: every piece of code in them runs."""

import contextlib
import re
from pathlib import Path
from unittest import mock

import pytest
from envcore_gymnax import registration, settings
from envcore_testing.numerics import numerics

PAGE = (Path(__file__).parents[1] / "tools/site/pages/howto/migrate.md").read_text()

OURS = """
import envcore, envcore_adapters.brax, envcore_adapters.gymnasium, envcore_classic_control.cartpole, envcore_viewer
import envcore_gymnax.experimental, gymnasium, jax
from envcore.wrappers import Batched, FlattenObservation, FrameStack, LogWrapper, NormalizeObservation, StickyAction
env, params = envcore.make("CartPole-v1")
transition, episode_length, n = envcore.Environment.transition, 100, 4
"""
OUR_STEP = """
key = jax.random.key(0)
obs, state = env.reset(key, params)
action = env.action_space(params).sample(key)
obs, state, reward, done, info = env.step(key, state, action, params)
"""
GYMNAX = """
import envcore_gymnax as gymnax, jax
from envcore_gymnax.environments import environment
from envcore_gymnax.wrappers import FlattenObservationWrapper, LegacyStepAPIWrapper, LogWrapper, StickyActionWrapper
action, key, step_env = 0, jax.random.key(0), environment.Environment.step_env
keys = jax.random.split(key, 2)
env_id, factory = "Migrated-v0", environment.Environment
"""
THEIRS = {
    "gymnax 0": GYMNAX,
    "gymnax 1": GYMNAX,
    "Gymnasium": """
import gymnasium
from gymnasium.wrappers import FrameStackObservation, NormalizeObservation, RecordEpisodeStatistics
action = 0
""",
    "brax": """
import brax.envs, brax.training, jax
from brax.envs.wrappers.training import AutoResetWrapper, EpisodeWrapper, VmapWrapper
env, rng, action, episode_length, action_repeat = brax.envs.get_environment("fast"), jax.random.key(0), 0, 10, 1
action = jax.numpy.zeros(env.action_size)
""",
    "jumanji": """
import jumanji, jax
from jumanji.wrappers import AutoResetWrapper, VmapAutoResetWrapper
key, action = jax.random.key(0), jax.numpy.int32(0)
""",
    "pgx": """
import pgx, pgx.experimental, pgx.minatar.breakout, jax
key, action = jax.random.key(0), 0
""",
}


def rows(library):
    """What the rows of a library's tables say, without their headers: what a line was and what it becomes, as code."""
    found = []
    for header, lines in re.findall(
        r"^\|([^\n]*) envcore \|\n\|[-|]+\|\n(.*?)\n\n", f"{PAGE}\n\n", re.DOTALL | re.MULTILINE
    ):
        libraries = [name.strip() for name in header.strip("|").split("|")]
        if library not in libraries:
            continue
        for line in lines.splitlines():
            cells = [re.findall(r"`([^`]+)`", cell) for cell in line.strip("|").split(" |")]
            was = cells[libraries.index(library)] or cells[0]  # an empty cell is that of the release before
            found.append((was, cells[-1]))
    assert len(found) > 5
    return found


@pytest.mark.parametrize("library", THEIRS)
def test_what_it_becomes(library):
    names = {"__name__": "reader"}
    exec(OURS + OUR_STEP, names)
    for _, pieces in rows(library):
        for piece in pieces:
            exec(piece, names)
            if "envcore.make" in piece:
                exec(OUR_STEP, names)


@pytest.mark.parametrize("library", THEIRS)
def test_what_it_was(library, monkeypatch):
    monkeypatch.setattr(registration, "_registry", {})
    monkeypatch.setattr(registration, "registered_envs", list(registration.registered_envs))
    names = {"__name__": "reader"}
    exec(THEIRS[library], names)
    with mock.patch.object(settings, "_six_values", True) if library == "gymnax 1" else contextlib.nullcontext():
        for pieces, _ in rows(library):
            for piece in pieces:
                with numerics():  # as a reader's JAX
                    exec(piece, names)
