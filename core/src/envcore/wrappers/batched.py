"""`Batched` and `Sharded`: run many copies of an environment with one key, on one device or several."""

from __future__ import annotations

import dataclasses
import functools
import math

import jax
from jax.sharding import NamedSharding

from envcore import checks, random, spaces, trees
from envcore.devices import AxisName, all_devices, axis_size, first_row, spread, vary_alike
from envcore.engine import arguments
from envcore.environment import Environment, Outcome
from envcore.typing import PyTree
from envcore.wrappers.base import Wrapper


@dataclasses.dataclass(frozen=True)
class Batched(Wrapper):
    """Runs `num_envs` copies in parallel. All values get a leading axis of that size, except keys and params.

    This is `vmap` with cheaper random numbers: the key of each copy costs one addition (`envcore.random.spawn`), and
    `action_space(params).sample(key)` draws all actions in one block. `draw_start`, `draw` and `restart` also accept
    typed keys (num_envs,), one for each copy.

    With an `axis_name`, it is one device's share of a larger batch, for use inside `jax.shard_map` or `jax.pmap`. Pass
    the same key on all devices. Together they compute what one device computes with
    `Batched(env, num_envs * num_devices)`: copy `i` of device `d` is copy `d * num_envs + i` of that batch, with the
    same random numbers. For the whole batch inside `jit`, use `Sharded`.

    Attributes:
      env: the environment.
      num_envs: number of copies. With an `axis_name`, the number on each device.
      axis_name: name of the mapped device axis, or a tuple of names. None for a single device.

    Raises:
      ValueError: num_envs is not a positive integer, or a `Batched` inside has an `axis_name`.
    """

    env: Environment
    num_envs: int
    axis_name: AxisName | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "num_envs", checks.positive_integer("num_envs", self.num_envs))
        if getattr(self.env, "axis_name", None) is not None:
            raise ValueError(f"only the outermost Batched may have an axis_name, got {self.env!r} inside")

    @property
    def batch_shape(self) -> tuple[int, ...]:
        return (self.num_envs, *self.env.batch_shape)

    def action_space(self, params: PyTree) -> spaces.Space:
        return self.env.action_space(params).batch(self.num_envs).over_devices(self.axis_name)

    def observation_space(self, params: PyTree) -> spaces.Space:
        return self.env.observation_space(params).batch(self.num_envs)

    def state_space(self, params: PyTree) -> spaces.Dict:
        space = self.env.state_space(params)
        return spaces.Dict({name: part.batch(self.num_envs) for name, part in space.spaces.items()})

    def draw_start(self, key: jax.Array, params: PyTree) -> PyTree:
        return jax.vmap(self.env.draw_start, (0, None))(self.keys(key), params)

    def init_state(self, draws: PyTree, params: PyTree, /) -> PyTree:
        state = jax.vmap(functools.partial(arguments.init_state, self.env), (0, None), axis_size=self.num_envs)(
            draws, params
        )
        return state if self.axis_name is None else vary_alike(state, first_row(self.num_envs, self.axis_name))

    def draw(self, key: jax.Array, params: PyTree) -> PyTree:
        return jax.vmap(self.env.draw, (0, None))(self.keys(key), params)

    def advance(self, state: PyTree, action: PyTree, draws: PyTree, params: PyTree) -> Outcome:
        return jax.vmap(self.env.advance, (0, 0, 0, None))(state, action, draws, params)

    def restart(self, key: jax.Array, done: jax.Array, state: PyTree, params: PyTree) -> PyTree:
        return jax.vmap(self.env.restart, (0, 0, 0, None))(self.keys(key), done, state, params)

    def observe(self, state: PyTree, params: PyTree) -> PyTree:
        return jax.vmap(self.env.observe, (0, None))(state, params)

    def action_mask(self, state: PyTree, params: PyTree) -> PyTree:
        return jax.vmap(self.env.action_mask, (0, None))(state, params)

    def render(self, state: PyTree, params: PyTree, height: int = 256) -> jax.Array:
        """Renders all copies: uint8 (num_envs, height, width, 3)."""
        return jax.vmap(lambda one: self.env.render(one, params, height))(state)

    def keys(self, key: jax.Array) -> jax.Array:
        """Returns a key for each copy, derived from one. Typed keys (num_envs,) are returned unchanged."""
        if trees.is_key(key) and key.shape == (self.num_envs,):
            return key
        if self.axis_name is None:
            return random.spawn(key, self.num_envs)
        total = self.num_envs * axis_size(self.axis_name)
        return random.spawn(key, self.num_envs, first_row(self.num_envs, self.axis_name), total)


@dataclasses.dataclass(frozen=True)
class Sharded(Batched):
    """`Batched` over several devices: `num_envs` copies in total, the same number on each device.

    `reset`, `step` and rollouts take and return arrays of the whole batch, whose first axis is split over the devices.
    `jit` compiles one program for all of them. For the same keys, states, observations and rewards equal those of
    `Batched(env, num_envs)` on one device, bit for bit. Key types like "rbg" are an exception, because their draws
    under `vmap` depend on the batch. Devices don't communicate in a step.

    Inside `jax.shard_map` or `jax.pmap`, use `Batched` with an `axis_name` instead.

    Attributes:
      env: the environment.
      num_envs: number of copies on all devices together.
      sharding: the devices and how the first axis is split over them, such as
        `NamedSharding(mesh, PartitionSpec("envs"))` for a mesh with an axis "envs". By default all devices, including
        those of other processes.

    Raises:
      ValueError: num_envs is not a positive multiple of the number of devices.
      TypeError: sharding is not a `NamedSharding` that splits the first axis only.
    """

    axis_name: None = dataclasses.field(default=None, init=False, repr=False)  # set in `share` only
    sharding: NamedSharding = None  # pyright: ignore[reportAssignmentType], until __post_init__

    def __post_init__(self) -> None:
        super().__post_init__()
        sharding = self.sharding or all_devices()
        object.__setattr__(self, "sharding", sharding)
        if not isinstance(sharding, NamedSharding) or len(sharding.spec) != 1 or sharding.spec[0] is None:
            raise TypeError(
                "sharding must be a NamedSharding that splits the first axis, such as "
                f"NamedSharding(mesh, PartitionSpec('envs')), got {sharding!r}"
            )
        if self.num_envs % self.num_devices:
            raise ValueError(
                f"num_envs must be a multiple of the number of devices, {self.num_devices}, got {self.num_envs}"
            )

    @property
    def num_devices(self) -> int:
        """The number of devices."""
        return math.prod(self.sharding.mesh.shape[name] for name in self._axis_names)

    @property
    def share(self) -> Batched:
        """The `Batched` environment on one device, for use inside `jax.shard_map`."""
        return Batched(self.env, self.num_envs // self.num_devices, self._axis_names)

    def draw_start(self, key: jax.Array, params: PyTree) -> PyTree:
        return spread(self.share.draw_start, self.sharding, (False, False))(key, params)

    def init_state(self, draws: PyTree, params: PyTree, /) -> PyTree:
        return spread(self.share.init_state, self.sharding, (True, False))(draws, params)

    def draw(self, key: jax.Array, params: PyTree) -> PyTree:
        return spread(self.share.draw, self.sharding, (False, False))(key, params)

    def advance(self, state: PyTree, action: PyTree, draws: PyTree, params: PyTree) -> Outcome:
        return spread(self.share.advance, self.sharding, (True, True, True, False))(state, action, draws, params)

    def restart(self, key: jax.Array, done: jax.Array, state: PyTree, params: PyTree) -> PyTree:
        return spread(self.share.restart, self.sharding, (False, True, True, False))(key, done, state, params)

    def observe(self, state: PyTree, params: PyTree) -> PyTree:
        return spread(self.share.observe, self.sharding, (True, False))(state, params)

    def action_mask(self, state: PyTree, params: PyTree) -> PyTree:
        return spread(self.share.action_mask, self.sharding, (True, False))(state, params)

    @property
    def _axis_names(self) -> tuple[str, ...]:
        names: AxisName = self.sharding.spec[0]
        return (names,) if isinstance(names, str) else tuple(names)
