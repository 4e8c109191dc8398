"""Findings that a few lines of a library's own code show, without envcore."""

from __future__ import annotations

from typing import NamedTuple


class Finding(NamedTuple):
    """What was found.

    Attributes:
      ids: the environments that it is about.
      summary: in one or two sentences.
      code: at most five lines after the imports, which print it.
    """

    ids: tuple[str, ...]
    summary: str
    code: str

    @property
    def family(self) -> str:
        """The first part of the ids."""
        return self.ids[0].partition("/")[0]


FINDINGS = (
    Finding(
        ("brax/inverted_pendulum",),
        "`info['time_out']` is 1 where the pole has fallen, which is no time limit.",
        """\
import brax.envs, jax

env = brax.envs.get_environment("inverted_pendulum")
state = jax.jit(env.reset)(jax.random.PRNGKey(0))
while not state.done:
    state = jax.jit(env.step)(state, jax.numpy.ones(1))
print(float(state.info["time_out"]))
""",
    ),
    Finding(
        ("brax/swimmer",),
        "A step raises an error with JAX 0.10, whose `jax.numpy.clip` has no argument `a_min`.",
        """\
import brax.envs, jax

env = brax.envs.get_environment("swimmer")
state = jax.jit(env.reset)(jax.random.PRNGKey(0))
try: jax.jit(env.step)(state, jax.numpy.zeros(env.action_size))
except TypeError as error: print(error)
""",
    ),
    Finding(
        ("brax/fast",),
        "It accepts any option.",
        """\
import brax.envs

env = brax.envs.get_environment("fast", no_such_option=1)
print(type(env).__name__)
""",
    ),
    Finding(
        ("gymnax/GaussianBandit-misc",),
        "Observations leave the bounds of the observation space: the last number is the time, from -1 to 1.",
        """\
import gymnax, jax

env, params = gymnax.make("GaussianBandit-misc")
obs, state = env.reset(jax.random.PRNGKey(0), params)
print(env.observation_space(params).low, obs)
""",
    ),
    Finding(
        ("jumanji/TSP-v1",),
        "`observation_spec` declares that `position` is at least 0, and it begins with -1.",
        """\
import jax, jumanji

env = jumanji.make("TSP-v1")
state, timestep = env.reset(jax.random.PRNGKey(0))
print(env.observation_spec.position.minimum, timestep.observation.position)
""",
    ),
    Finding(
        ("jumanji/Snake-v1",),
        "`observation_spec` declares that `step_count` is below the time limit, which it reaches.",
        """\
import jax, jumanji

env = jumanji.make("Snake-v1", time_limit=2)
state, timestep = env.reset(jax.random.PRNGKey(0))
for action in (0, 1): state, timestep = env.step(state, action)
print(env.observation_spec.step_count.maximum, timestep.observation.step_count)
""",
    ),
    Finding(
        ("jumanji/Maze-v0",),
        "The time limit is a termination (discount 0), so that an agent takes the value after it for 0. The same holds "
        "in all environments with a time limit but Connector and LevelBasedForaging.",
        """\
import jax, jumanji

env = jumanji.make("Maze-v0", time_limit=1)
state, timestep = env.reset(jax.random.PRNGKey(0))
state, timestep = env.step(state, jax.numpy.int32(0))
print(timestep.last(), timestep.discount)
""",
    ),
    Finding(
        ("navix/Navix-Empty-5x5-v0",),
        "`observation_space` declares values from 0 to 8, and the agent is 10. The same holds for most observations.",
        """\
import jax, navix

env = navix.make("Navix-Empty-5x5-v0")
timestep = env.reset(jax.random.PRNGKey(0))
print(env.observation_space.maximum, timestep.observation.max())
""",
    ),
    Finding(
        ("navix/Navix-Empty-5x5-v0", "navix/Navix-Empty-16x16-v0", "navix/Navix-KeyCorridorS6R3-v0"),
        "The time limit is 100 steps in all environments; MiniGrid's depends on the size.",
        """\
import navix

for name in ("Navix-Empty-5x5-v0", "Navix-Empty-16x16-v0", "Navix-KeyCorridorS6R3-v0"):
    print(name, navix.make(name).max_steps)
""",
    ),
    Finding(
        ("navix/Navix-DistShift1-v0",),
        "Only the goal ends an episode: the lava does no harm.",
        """\
import navix

env = navix.make("Navix-DistShift1-v0")
print(env.termination_fn.__name__)
""",
    ),
    Finding(
        ("playground/CheetahRun",),
        "With MuJoCo Warp, the contacts of a batch are one array, whose first axis is not the batch's: states cannot "
        "be stored, selected or reset one by one.",
        """\
import jax
from mujoco_playground import registry

env = registry.load("CheetahRun")
keys = jax.random.split(jax.random.PRNGKey(0), 4)
state = jax.eval_shape(jax.vmap(env.reset), keys)
print(state.data.qpos.shape, state.data._impl.contact__dist.shape)
""",
    ),
    Finding(
        ("playground/CartpoleBalance",),
        "The auto-reset of `wrap_for_brax_training` begins every episode as the first one, unless `full_reset=True`.",
        """\
import jax
from mujoco_playground import registry, wrapper

env = wrapper.wrap_for_brax_training(registry.load("CartpoleBalance"), episode_length=1)
first = jax.jit(env.reset)(jax.random.split(jax.random.PRNGKey(0), 2))
second = jax.jit(env.step)(first, jax.numpy.zeros((2, 1)))
print((first.obs == second.obs).all())
""",
    ),
    Finding(
        ("xminigrid/MiniGrid-Playground",),
        "It has no goal (its encoding is 0, the empty goal), so the reward is always 0.",
        """\
import jax, xminigrid

env, params = xminigrid.make("MiniGrid-Playground")
timestep = env.reset(params, jax.random.PRNGKey(0))
print(timestep.state.goal_encoding)
""",
    ),
    Finding(
        ("xminigrid/MiniGrid-DoorKey-8x8",),
        "The door is never in row 6, the lowest one.",
        """\
import jax, numpy, xminigrid

env, params = xminigrid.make("MiniGrid-DoorKey-8x8")
keys = jax.random.split(jax.random.PRNGKey(0), 1000)
grids = jax.vmap(env.reset, (None, 0))(params, keys).state.grid
doors = grids[..., 0] == xminigrid.core.constants.Tiles.DOOR_LOCKED
print(numpy.unique(numpy.argwhere(doors)[:, 1]))
""",
    ),
)
