"""The environment under check, with recordings that the rules share."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from envcore import random, spaces, trees
from envcore.engine import arguments
from envcore.environment import Environment
from jax import lax

from envcore_testing.compilation import quick_jit
from envcore_testing.lockstep import mostly_legal_action
from envcore_testing.trees import join, on_host, take

SHORT_LIMIT = 7
"""Time limit of a recording in which episodes certainly end."""
MIN_STEPS = 16

_NUM_ENVS = 4
_NUM_DISSECTED = 16


class Types(NamedTuple):
    """Types of actions and of the results of each method, as trees of `jax.ShapeDtypeStruct`."""

    reset: tuple[Any, Any]
    action: Any
    step: tuple[Any, ...]
    step_env: tuple[Any, ...]


class Recording(NamedTuple):
    """Episodes with random actions, on the host. Every leaf has the leading axes (environment, step).

    Attributes:
      key: the key of the step, as words.
      state: the state before the step.
      action: the sampled action.
      reward, done, terminated, truncated, discount: results of `step`.
      obs_inside: for each array of the observation by name, whether it is in its space before and after the step. The
        observation after the step is the one before any reset.
      state_inside: the same for the state.
    """

    key: Any
    state: Any
    action: Any
    reward: Any
    done: Any
    terminated: Any
    truncated: Any
    discount: Any
    obs_inside: dict[str, Any]
    state_inside: dict[str, Any]


class Dissection(NamedTuple):
    """Steps under `vmap` and the parts that they should consist of, on the host, with one leading axis.

    Attributes:
      key, state, action: the inputs. The key is stored as words.
      step: the result of `step`.
      step_env: the result of `step_env`.
      outcome: the result of `advance`, which is the reference for both.
      obs, mask: `observe` and `action_mask` of the state that `step` returned.
      final_obs: `observe` of `outcome.state`.
      fresh: the result of `restart` for `outcome.state` with the key of the auto-reset.
    """

    key: Any
    state: Any
    action: Any
    step: tuple[Any, ...]
    step_env: tuple[Any, ...]
    outcome: Any
    obs: Any
    mask: Any
    final_obs: Any
    fresh: Any

    @property
    def ended(self) -> np.ndarray[Any, Any]:
        """Whether the step ended an episode, bool (step, *batch)."""
        return np.asarray(self.outcome.terminated | self.outcome.truncated)


class Subject:
    """The environment under check. Recordings and types are computed on first use and cached."""

    def __init__(self, env: Environment, params: Any, key: jax.Array | None, num_steps: int):
        self.env = env
        self.num_steps = num_steps
        self.errors: dict[str, str] = {}  # the text of an error, and the first rule that raised it
        self._shared: dict[Any, Any] = {}
        self._given_params, self._given_key = params, key

    @property
    def is_wrapped(self) -> bool:
        """Whether the environment is a wrapper around another."""
        return self.env.unwrapped is not self.env

    @functools.cached_property
    def key(self) -> jax.Array:
        """The random key of the check, a typed one."""
        # It is cached, so it must not be a tracer if it is first used during tracing.
        with jax.ensure_compile_time_eval():
            key = jax.random.key(0) if self._given_key is None else self._given_key
            return key if trees.is_key(key) else jax.random.wrap_key_data(key)

    @functools.cached_property
    def params(self) -> Any:
        """The params under check, as numpy arrays with their dtypes."""
        return arguments.checked_params(self.env, self._given_params)

    def limited(self, limit: int) -> Any:
        """Returns the params with a different time limit."""
        return self.params.replace(max_steps_in_episode=np.int32(limit))

    def wrap_key(self, words: Any) -> jax.Array:
        """Returns the typed key for recorded words."""
        return jax.random.wrap_key_data(jnp.asarray(words), impl=jax.random.key_impl(self.key))

    def shared(self, make: Callable[[Subject], Any]) -> Any:
        """Returns `make(self)`, which is computed once and shared by rules."""
        if make not in self._shared:
            self._shared[make] = make(self)
        return self._shared[make]

    @functools.cached_property
    def types(self) -> Types:
        """The types with JAX's default numerics."""
        return self.trace_types()

    def trace_types(self) -> Types:
        """Traces the methods to find the types with the current numerics."""
        env = self.env
        # New functions, because JAX would reuse traces from other numerics.
        reset = jax.eval_shape(lambda *args: env.reset(*args), self.key, self.params)
        action = jax.eval_shape(lambda key: env.action_space(self.params).sample(key), self.key)
        args = (self.key, reset[1], action, self.params)
        step = jax.eval_shape(lambda *args: env.step(*args), *args)
        return Types(reset, action, step, jax.eval_shape(lambda *args: env.step_env(*args), *args))

    @functools.cached_property
    def recording(self) -> Recording:
        """Recorded episodes with the params under check."""
        return self.record(self.params)

    @functools.cached_property
    def short_recording(self) -> Recording:
        """Recorded episodes with a time limit of `SHORT_LIMIT` steps."""
        return self.record(self.limited(SHORT_LIMIT))

    @functools.cached_property
    def both_recordings(self) -> Recording:
        """`recording` and `short_recording`, concatenated along the environments."""
        return join(self.recording, self.short_recording)

    def record(self, params: Any) -> Recording:
        """Records a few environments for `num_steps` steps. The same params give the same recording."""
        return on_host(self._record(self.key, params))

    @functools.cached_property
    def steps(self) -> Dissection:
        """Dissected steps of `recording`, followed by the same number of steps of `short_recording`."""
        dissect = quick_jit(jax.vmap(self._dissect_step, (0, 0, 0, None)))
        found = []
        for params, steps in ((self.params, self.recording), (self.limited(SHORT_LIMIT), self.short_recording)):
            where = np.unravel_index(_ends_and_others(steps), (_NUM_ENVS, self.num_steps))
            found.append(on_host(dissect(*take((steps.key, steps.state, steps.action), where), params)))
        return join(*found)

    @functools.cached_property
    def single_steps(self) -> list[tuple[Any, ...]]:
        """Results of `step` for each dissected step, without `vmap`."""
        return [self.step_alone(index) for index in range(len(self.steps.key))]

    def step_alone(self, index: int, key: jax.Array | None = None) -> tuple[Any, ...]:
        """Repeats one dissected step without `vmap`, optionally with a different key."""
        words, state, action = take((self.steps.key, self.steps.state, self.steps.action), index)
        state, action = jax.tree.map(jnp.asarray, (state, action))
        params = self.params if index < _NUM_DISSECTED else self.limited(SHORT_LIMIT)
        return self.env.step(self.wrap_key(words) if key is None else key, state, action, params)

    @functools.cached_property
    def _record(self) -> Any:
        return quick_jit(lambda key, params: jax.vmap(self._play, (0, None))(jax.random.split(key, _NUM_ENVS), params))

    def _play(self, key: jax.Array, params: Any) -> Recording:
        env = self.env
        obs_space, state_space = env.observation_space(params), env.state_space(params)

        def body(carry: tuple[Any, Any], keys: jax.Array) -> tuple[tuple[Any, Any], Recording]:
            (state, obs_inside), (key_action, key_step) = carry, keys
            action = mostly_legal_action(env, key_action, state, params)
            next_obs, next_state, reward, done, info = env.step(key_step, state, action, params)
            final_state = env.advance(state, action, env.draw(key_step, params), params).state
            recording = Recording(
                key=jax.random.key_data(key_step),
                state=state,
                action=action,
                reward=reward,
                done=done,
                terminated=info["terminated"],
                truncated=info["truncated"],
                discount=info["discount"],
                obs_inside=_both(obs_inside, _inside(obs_space, info["final_obs"], "obs")),
                state_inside=_both(_inside(state_space, state, "state"), _inside(state_space, final_state, "state")),
            )
            return (next_state, _inside(obs_space, next_obs, "obs")), recording

        key_reset, key_steps = jax.random.split(key)
        obs, state = env.reset(key_reset, params)
        # `scan` refuses a weakly typed carry, which another rule reports.
        start = (trees.narrow(state), _inside(obs_space, obs, "obs"))
        return lax.scan(body, start, jax.random.split(key_steps, (self.num_steps, 2)))[1]

    def _dissect_step(self, words: jax.Array, state: Any, action: Any, params: Any) -> Dissection:
        env, key = self.env, self.wrap_key(words)
        step = env.step(key, state, action, params)
        outcome = env.advance(state, action, env.draw(key, params), params)
        done = jnp.ones_like(outcome.terminated)
        return Dissection(
            key=words,
            state=state,
            action=action,
            step=step,
            step_env=env.step_env(key, state, action, params),
            outcome=outcome,
            obs=env.observe(step[1], params),
            mask=env.action_mask(step[1], params),
            final_obs=env.observe(outcome.state, params),
            fresh=env.restart(random.reset_key(key), done, outcome.state, params),
        )


def parts_of(space: spaces.Space, value: Any, name: str) -> Iterator[tuple[str, spaces.Space, Any]]:
    """Iterates over the arrays of a value that has the structure of its space: name, space and array."""
    if not isinstance(space, spaces.Dict | spaces.Tuple):
        yield name, space, value
        return
    places = list(space.spaces) if isinstance(space, spaces.Dict) else range(len(space.spaces))
    for place, (part, x) in zip(places, space.parts(value), strict=True):
        where = f"[{place!r}]" if isinstance(value, dict | tuple) else f".{place}"
        yield from parts_of(part, x, name + where)


def _inside(space: spaces.Space, value: Any, name: str) -> dict[str, jax.Array]:
    if space.mismatch(value) is not None:  # another rule reports this
        return {}
    return {where: part.contains(x) for where, part, x in parts_of(space, value, name)}


def _both(before: dict[str, jax.Array], after: dict[str, jax.Array]) -> dict[str, jax.Array]:
    return {name: before[name] & after[name] for name in before}


def _ends_and_others(steps: Recording) -> np.ndarray[Any, Any]:
    """Returns indices of steps in the flattened recording. If possible, half of them end an episode."""
    done = steps.terminated | steps.truncated
    ended = done.reshape(*done.shape[:2], -1).any(-1).reshape(-1)
    half = _NUM_DISSECTED // 2
    return np.resize([*np.flatnonzero(ended)[:half], *np.flatnonzero(~ended)[:half]], _NUM_DISSECTED)
