"""`ForeignEnvironment`: the base class of bridges to other libraries.

A bridge defines how the library makes an environment, starts an episode and takes a step, and defines the spaces:

    @dataclasses.dataclass(frozen=True)
    class FromTheirs(ForeignEnvironment):
        def load(self): ...                                      the library's environment, for `self.library_env`
        def library_reset(self, key, params): ...                -> (state, obs)
        def library_step(self, state, action, key, params): ...  -> (state, obs, reward, terminated[, info])

envcore replaces the library's auto-reset and time limit, so `library_reset` and `library_step` must call functions that
do neither. Return the library's time limit as `time_limit`. It becomes `default_params.max_steps_in_episode`.

`ForeignEnvironment` calls the library with legacy keys, 32 bits and JAX's default type promotion, regardless of your
settings. It also makes sure that a state has the same dtypes after a reset and after a step.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Hashable, Mapping
from typing import Any, ClassVar, Self

import jax
import jax.numpy as jnp
import numpy as np
from envcore import random, spaces, trees
from envcore.devices import vary_alike
from envcore.engine import arguments
from envcore.environment import NO_TIME_LIMIT, Environment, EnvParams, EnvState, Outcome
from envcore.errors import EnvironmentDefinitionError, InvalidArgumentError
from envcore.wrappers import NestedParams
from flax import struct
from jax import lax

from envcore_bridges.base.loading import check_arguments, default_numerics, errors_of_library, layers, loaded
from envcore_bridges.base.resets import reset_finished

_OWN_INFO = ("action_mask", "discount", "final_obs", "terminated")  # `truncated` is combined with the library's


@functools.partial(jax.tree_util.register_dataclass, data_fields=["env_params", "max_steps_in_episode"], meta_fields=[])
@dataclasses.dataclass(frozen=True)
class ForeignParams(NestedParams):
    """Params that wrap the library's params as `env_params`.

    You can read and replace the library's params directly, as in `params.gravity` and `params.replace(gravity=3.7)`.

    Attributes:
      max_steps_in_episode: as in `EnvParams`. It replaces the library's time limit.
    """

    max_steps_in_episode: Any = NO_TIME_LIMIT


@struct.dataclass
class ForeignState(EnvState):
    """State of another library's environment.

    Attributes:
      inner: the library's state.
      obs: the observation, which most libraries compute in the step.
    """

    inner: Any
    obs: Any


@dataclasses.dataclass(frozen=True)
class ForeignEnvironment(Environment[ForeignState, Any]):
    """An environment of another library.

    Subclasses implement `load`, `library_reset`, `library_step`, the spaces and `time_limit`.

    Attributes:
      source: the library's name of the environment, or a class or function that makes it. Two environments with equal
        sources and options are equal.
      options: keyword arguments for `source`, as pairs of names and hashable values, sorted by name.
    """

    expensive_reset: ClassVar[bool] = True
    """Whether a reset is much slower than a step. If so, only finished environments are reset under `vmap`."""

    source: str | Callable[..., Any]
    options: tuple[tuple[str, Hashable], ...] = ()

    refused_wrappers: ClassVar[tuple[str, ...]] = ()
    """Names of the library's wrapper classes for auto-reset, batching or time limits, which envcore does itself."""

    @classmethod
    def make(cls, source: str | Callable[..., Any], **options: Hashable) -> Self:
        """Makes the environment, with the library's options as keyword arguments.

        Raises:
          InvalidArgumentError: the source does not make an environment of the library, its environment is in one of
            `refused_wrappers` or unsupported, an option is not hashable, or the library refuses it.
        """
        check_arguments(source, options)
        env = cls(source, tuple(sorted(options.items())))
        with errors_of_library(env.name, source, options):
            library_env, limit = env.library_env, env.time_limit
            _ = env.action_space(env.default_params)
        if not isinstance(limit, int | np.integer) or limit <= 0:
            raise InvalidArgumentError(f"{env.name}'s time limit must be a positive integer, got {limit}.")
        for layer in layers(library_env):
            if type(layer).__name__ in cls.refused_wrappers:
                raise InvalidArgumentError(
                    f"{env.name} is wrapped in {type(layer).__name__}, which does what envcore does itself: resets, "
                    "batches or a time limit. Pass the environment without this wrapper."
                )
        env.check_support()
        return env

    def load(self) -> Any:
        """Makes the library's environment from `source` and `options`. Import the library here."""
        raise NotImplementedError

    def check_support(self) -> None:
        """Override this to raise an error if `library_env` is of an unsupported kind."""

    def library_reset(self, key: jax.Array, params: Any) -> tuple[Any, Any]:
        """Starts an episode and returns the library's state and the observation. `key` is a legacy key.

        If the state contains the observation, return `()` instead and override `observe`, so that it is stored once.
        """
        raise NotImplementedError

    def library_step(self, state: Any, action: Any, key: jax.Array, params: Any) -> tuple[Any, ...]:
        """Takes a step of the library and returns `(state, obs, reward, terminated)`, optionally followed by `info`.

        `terminated` must be False if only a time limit ended the episode. If the library truncates for a reason other
        than its time limit, set `info["truncated"]`, bool (). The step is truncated if this is True or the time limit
        is reached. Info entries with names that envcore uses, such as `discount`, are dropped.
        """
        raise NotImplementedError

    def library_action_mask(self, state: Any, obs: Any, params: Any) -> Any:
        """Returns the library's mask of legal actions. None, the default, if all actions are legal."""
        return None

    @property
    def time_limit(self) -> int:
        """The library's time limit in steps. `NO_TIME_LIMIT` if it has none."""
        raise NotImplementedError

    # Class variables of `Environment`, such as `action_names`, may be properties in subclasses.

    @property
    def library_env(self) -> Any:
        """The library's environment, which equal environments share."""
        return loaded(self)

    @property
    def state_types(self) -> ForeignState:
        """The state as a tree of `jax.ShapeDtypeStruct`: `inner`, `obs` and `time`."""
        return arguments.state_struct(self)

    @property
    def name(self) -> str:
        if isinstance(self.source, str):
            return self.source
        made_by = self.source.func if isinstance(self.source, functools.partial) else self.source
        return getattr(made_by, "__name__", repr(made_by))

    @property
    def default_params(self) -> Any:
        return EnvParams(max_steps_in_episode=self.time_limit)

    def state_space(self, params: Any) -> spaces.Dict:
        types = types_of(self)
        parts = {"inner": spaces.Tree(types.inner), "obs": spaces.Tree(types.obs), "time": spaces.NATURAL_NUMBERS}
        return spaces.Dict(parts)

    def init_state(self, draws: jax.Array, params: Any, /) -> ForeignState:
        with default_numerics():
            inner, obs = self.library_reset(random.key_words(draws), params)
        return self._state(inner, obs)

    def transition(self, state: ForeignState, action: Any, draws: jax.Array, params: Any, /) -> tuple[Any, ...]:
        with default_numerics():
            step = self.library_step(state.inner, action, random.key_words(draws), params)
            inner, obs, reward, terminated, *info = step
            reward, terminated = jnp.asarray(reward).astype(jnp.float32), jnp.asarray(terminated).astype(jnp.bool_)
            info = {name: value for name, value in (info[0] if info else {}).items() if name not in _OWN_INFO}
        return self._state(inner, obs), reward, terminated, info

    def may_truncate(self, params: Any) -> bool:
        return True  # the library may truncate for its own reasons

    def advance(self, state: ForeignState, action: Any, draws: Any, params: Any) -> Outcome:
        outcome = super().advance(state, action, draws, params)
        if "truncated" not in outcome.info:
            return outcome
        info = dict(outcome.info)
        own = jnp.asarray(info.pop("truncated")).astype(jnp.bool_)
        if own.shape:
            raise EnvironmentDefinitionError(f"{self.name}: info['truncated'] must have shape (), got {own.shape}.")
        return outcome._replace(truncated=outcome.truncated | own, info=info)

    def restart(self, key: jax.Array, done: jax.Array, state: ForeignState, params: Any) -> ForeignState:
        if not self.expensive_reset:
            return super().restart(key, done, state, params)

        def fresh(key: jax.Array, params: Any) -> ForeignState:
            return jax.tree.map(jnp.asarray, arguments.new_state(self, key, params))

        return reset_finished(done, fresh, vary_alike(state, done, key, params), key, params)

    def observe(self, state: ForeignState, params: Any) -> Any:
        return state.obs

    def action_mask(self, state: ForeignState, params: Any) -> Any:
        with default_numerics():
            return self.library_action_mask(state.inner, state.obs, params)

    def _state(self, inner: Any, obs: Any) -> ForeignState:
        types = types_of(self)
        return ForeignState(inner=as_types(inner, types.inner), obs=as_types(obs, types.obs))


@functools.lru_cache(maxsize=512)
def types_of(env: Any) -> ForeignState:
    """Returns dtypes that fit the states of both a reset and a step, which often differ in libraries."""

    def first(words: jax.Array, params: Any) -> ForeignState:
        return ForeignState(*env.library_reset(words, params))

    def after_step(state: ForeignState, words: jax.Array, params: Any) -> ForeignState:
        action = env.action_space(params).sample(words)
        return ForeignState(*env.library_step(state.inner, action, words, params)[:2])

    params = arguments.default_params(env)
    with default_numerics():
        words = jax.eval_shape(lambda: jax.random.PRNGKey(0))
        types = _strong(jax.eval_shape(first, words, params))
        for _ in range(3):  # a step from promoted types may promote further
            after = jax.eval_shape(after_step, types, words, params)
            joined = _joined(env, types, after)
            if jax.tree.leaves(joined) == jax.tree.leaves(types):
                return types
            types = joined
    raise EnvironmentDefinitionError(f"{env.name}: the types of the library's state change with every step.")


def as_types(tree: Any, types: Any) -> Any:
    """Converts the tree to the dtypes of `types`, without weak types."""
    return jax.tree.map(lambda x, wanted: lax.convert_element_type(x, wanted.dtype), tree, types)


def _joined(env: Any, types: Any, after: Any) -> Any:
    if jax.tree.structure(types) != jax.tree.structure(after):
        problem = trees.structure_difference(types, after)
        raise EnvironmentDefinitionError(
            f"{env.name}: library_reset and library_step must return the same structure: expected {problem}."
        )

    def leaf(before: Any, after: Any) -> Any:
        if before.shape != after.shape:
            raise EnvironmentDefinitionError(
                f"{env.name}: library_reset and library_step must return the same shapes, "
                f"got {before.shape} and {after.shape}."
            )
        dtype = before.dtype if before.dtype == after.dtype else jnp.promote_types(before.dtype, after.dtype)
        return jax.ShapeDtypeStruct(before.shape, dtype)

    return jax.tree.map(leaf, types, after)


def _strong(types: Any) -> Any:
    return jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), types)


def as_dicts(value: Any) -> Any:
    """Converts a library's observation or info to nested dicts. Arrays are unchanged.

    Dataclasses, named tuples and mappings become dicts, and lists become tuples. Static fields of dataclasses are
    dropped.
    """
    if dataclasses.is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value) if not _is_static(field)}
    elif isinstance(value, tuple) and hasattr(value, "_asdict"):
        value = value._asdict()  # pyright: ignore[reportAttributeAccessIssue]
    if isinstance(value, Mapping):
        return {name: as_dicts(part) for name, part in value.items()}
    if isinstance(value, tuple | list):
        return tuple(as_dicts(part) for part in value)
    return value


def _is_static(field: dataclasses.Field[Any]) -> bool:
    """Whether the field is static for flax or JAX."""
    return field.metadata.get("static", not field.metadata.get("pytree_node", True))
