"""The tables of the page that says what each line of another library becomes: every piece of code in them runs."""

import re
from pathlib import Path

import pytest
from envcore_testing.numerics import numerics

PAGE = (Path(__file__).parents[1] / "tools/site/pages/howto/migrate.md").read_text()

OURS = """
import envcore, envcore_adapters.brax, envcore_adapters.gymnasium, gymnasium, jax
from envcore.wrappers import Batched, FlattenObservation, FrameStack, LogWrapper, NormalizeObservation
env, params = envcore.make("CartPole-v1")
transition, episode_length, n = envcore.Environment.transition, 100, 4
"""
OUR_STEP = """
key = jax.random.key(0)
obs, state = env.reset(key, params)
action = env.action_space(params).sample(key)
obs, state, reward, done, info = env.step(key, state, action, params)
"""
THEIRS = {
    "gymnax": """
import envcore_gymnax as gymnax, jax
from envcore_gymnax.environments import environment
from envcore_gymnax.wrappers import FlattenObservationWrapper, LogWrapper
action, key, step_env = 0, jax.random.key(0), environment.Environment.step_env
keys = jax.random.split(key, 2)
""",
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
    """The cells of a library's table, without its header: lists of two lists of code."""
    table = PAGE.partition(f"| {library} | envcore |\n|---|---|\n")[2].partition("\n\n")[0]
    lines = table.splitlines()
    assert len(lines) > 5
    return [[re.findall(r"`([^`]+)`", cell) for cell in line.strip("|").split(" | ")] for line in lines]


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
def test_what_it_was(library):
    names = {"__name__": "reader"}
    exec(THEIRS[library], names)
    for pieces, _ in rows(library):
        for piece in pieces:
            with numerics():  # as a reader's JAX
                exec(piece, names)
