"""What the rules look at: an environment, and what it did, recorded once and read by many rules."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from envcore import random, trees
from envcore.engine import arguments
from envcore.environment import Environment
from jax import lax

from envcore_testing.breaches import Place, place_of_method
from envcore_testing.compilation import quick_jit
from envcore_testing.lockstep import mostly_legal_action
from envcore_testing.numerics import numerics
from envcore_testing.trees import float_params, join, mapped_axes, on_host, scaled, take

SHORT_LIMIT = 7
"""Time limit of the recording that is certain to hold the ends of episodes."""
MIN_STEPS = 16

_NUM_ENVS = 4
_NUM_DISSECTED = 16
_SCALES = np.array([1.0, 0.99, 1.01], np.float32)  # of float params


class Types(NamedTuple):
    """The types of what the environment takes and returns, as trees of `jax.ShapeDtypeStruct`."""

    reset: tuple[Any, Any]
    action: Any
    step: tuple[Any, ...]
    step_env: tuple[Any, ...]


class Recording(NamedTuple):
    """Episodes with random actions, on the host. Every leaf has the leading axes (environment, step).

    Attributes:
      key: of the step, as words.
      state: before the step.
      action: as sampled.
      reward: as returned, like the four after it.
      action_inside: the action is in its space; scalars, like the two after it.
      obs_inside: the observations before the step and after it, before any reset, are in their space.
      state_inside: likewise the states.
    """

    key: Any
    state: Any
    action: Any
    reward: Any
    done: Any
    terminated: Any
    truncated: Any
    discount: Any
    action_inside: Any
    obs_inside: Any
    state_inside: Any


class Dissection(NamedTuple):
    """Single steps under `vmap`, and the parts that they should be made of, on the host, with one leading axis.

    Attributes:
      key, state, action: what went in; the key as words.
      step: what `step` returned.
      step_env: what `step_env` returned.
      outcome: what `advance` returned: the reference for both.
      obs: `observe` of the state that `step` returned.
      final_obs: `observe` of `outcome.state`.
      fresh: what `restart` makes of `outcome.state` with the key of the auto-reset.
    """

    key: Any
    state: Any
    action: Any
    step: tuple[Any, ...]
    step_env: tuple[Any, ...]
    outcome: Any
    obs: Any
    final_obs: Any
    fresh: Any

    @property
    def ended(self) -> np.ndarray[Any, Any]:
        """Whether the step ended an episode, bool (step, *batch)."""
        return np.asarray(self.outcome.terminated | self.outcome.truncated)


class Subject:
    """The environment under check. What has to be compiled is made on first use and kept."""

    def __init__(self, env: Environment, params: Any, key: jax.Array | None, num_steps: int):
        self.env = env
        self.num_steps = num_steps
        self.batching_error: Exception | None = None
        self.errors: dict[str, str] = {}  # by the error's text, the first rule that met it
        self._shared: dict[Any, Any] = {}
        self._strict_types: dict[bool, Types | None] = {}
        self._given_params, self._given_key = params, key

    @property
    def is_wrapped(self) -> bool:
        """Whether the environment is a wrapper around another."""
        return self.env.unwrapped is not self.env

    @functools.cached_property
    def key(self) -> jax.Array:
        """The random key of the check, a typed one."""
        # It is kept, so it must not be a tracer where the first to ask for it is being traced.
        with jax.ensure_compile_time_eval():
            key = jax.random.key(0) if self._given_key is None else self._given_key
            return key if jnp.issubdtype(key.dtype, jax.dtypes.prng_key) else jax.random.wrap_key_data(key)

    @functools.cached_property
    def params(self) -> Any:
        """The params under check, as numpy arrays with their dtypes."""
        return arguments.checked_params(self.env, self._given_params)

    def limited(self, limit: int) -> Any:
        """The params with another time limit."""
        return self.params.replace(max_steps_in_episode=np.int32(limit))

    def place(self, *methods: str) -> Place | None:
        """Where the author has written the first of these methods, else the class."""
        return place_of_method(self.env, *methods)

    def wrap_key(self, words: Any) -> jax.Array:
        """The typed key of recorded words."""
        return jax.random.wrap_key_data(jnp.asarray(words), impl=jax.random.key_impl(self.key))

    def shared(self, make: Callable[[Subject], Any]) -> Any:
        """`make(self)`, computed by the first rule that asks for it."""
        if make not in self._shared:
            self._shared[make] = make(self)
        return self._shared[make]

    @functools.cached_property
    def types(self) -> Types:
        """The types under JAX's default numerics."""
        return self.trace_types()

    def trace_types(self) -> Types:
        """Traces again to find the types, under the numerics that are in force."""
        env = self.env
        # New functions, because JAX would reuse what it has traced under other switches.
        reset = jax.eval_shape(lambda *args: env.reset(*args), self.key, self.params)
        action = jax.eval_shape(lambda key: env.action_space(self.params).sample(key), self.key)
        args = (self.key, reset[1], action, self.params)
        step = jax.eval_shape(lambda *args: env.step(*args), *args)
        return Types(reset, action, step, jax.eval_shape(lambda *args: env.step_env(*args), *args))

    def strict_types(self, *, x64: bool) -> Types | None:
        """The types where JAX refuses to mix dtypes and ranks; None where something raises."""
        if x64 not in self._strict_types:
            try:
                with numerics(x64=x64, dtype_promotion="strict", rank_promotion="raise"):
                    self._strict_types[x64] = self.trace_types()
            except Exception:
                self._strict_types[x64] = None
        return self._strict_types[x64]

    @functools.cached_property
    def recording(self) -> Recording:
        """Episodes with the params under check."""
        return self.record(self.params)

    @functools.cached_property
    def short_recording(self) -> Recording:
        """Episodes that the time limit ends after `SHORT_LIMIT` steps."""
        return self.record(self.limited(SHORT_LIMIT))

    def record(self, params: Any) -> Recording:
        """Plays a few environments for `num_steps` steps; the same params give the same recording."""
        return on_host(self._record(self.key, params))

    @functools.cached_property
    def dissections(self) -> tuple[tuple[Any, Dissection], ...]:
        """Steps of either recording, taken apart, each with the params that they were played with.

        The float params of each step are a little different, with a first axis for the steps, unless `step` cannot
        be mapped over them: then `batching_error` says why.
        """
        try:
            return self.dissect(batch_params=True)
        except Exception as error:
            parts = self.dissect(batch_params=False)
            self.batching_error = error
            return parts

    def dissect(self, *, batch_params: bool) -> tuple[tuple[Any, Dissection], ...]:
        """Makes `dissections`, with float params for each step or with the same ones for all."""
        names = float_params(self.params) if batch_params else []
        dissect = quick_jit(jax.vmap(self._dissect_step, (0, 0, 0, mapped_axes(self.params, names))))
        scales, found = np.resize(_SCALES, _NUM_DISSECTED), []
        for params, steps in ((self.params, self.recording), (self.limited(SHORT_LIMIT), self.short_recording)):
            chosen, params = _ends_and_others(steps), scaled(params, names, scales)
            inputs = jax.tree.map(
                lambda x: x.reshape(x.shape[0] * x.shape[1], *x.shape[2:])[chosen],  # noqa: B023
                (steps.key, steps.state, steps.action),
            )
            found.append((params, on_host(dissect(*inputs, params))))
        return tuple(found)

    def params_of_step(self, params: Any, index: int) -> Any:
        """The params of one of the steps that `dissections` holds."""
        return jax.tree.map(lambda x, own: x[index] if x.ndim > own.ndim else x, params, self.params)

    @functools.cached_property
    def both_recordings(self) -> Recording:
        """`recording` and `short_recording` as one, the environments of the short one last."""
        return join(self.recording, self.short_recording)

    @functools.cached_property
    def both_dissections(self) -> Dissection:
        """The parts of `dissections` as one."""
        return join(*(parts for _, parts in self.dissections))

    @functools.cached_property
    def single_steps(self) -> list[list[tuple[Any, ...]]]:
        """`step` of the dissected steps, one by one."""
        return [
            [self.step_alone(parts, index, params) for index in range(_NUM_DISSECTED)]
            for params, parts in self.dissections
        ]

    def step_alone(self, parts: Dissection, index: int, params: Any, key: jax.Array | None = None) -> tuple[Any, ...]:
        """Repeats one dissected step without `vmap`, with another key if given."""
        words, state, action = take((parts.key, parts.state, parts.action), index)
        state, action = jax.tree.map(jnp.asarray, (state, action))
        key = self.wrap_key(words) if key is None else key
        return self.env.step(key, state, action, self.params_of_step(params, index))

    @functools.cached_property
    def _record(self) -> Any:
        return quick_jit(lambda key, params: jax.vmap(self._play, (0, None))(jax.random.split(key, _NUM_ENVS), params))

    def _play(self, key: jax.Array, params: Any) -> Recording:
        env = self.env
        action_space, obs_space = env.action_space(params), env.observation_space(params)
        state_space = env.state_space(params)

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
                action_inside=action_space.contains(action),
                obs_inside=obs_inside & obs_space.contains(info["final_obs"]),
                state_inside=state_space.contains(state) & state_space.contains(final_state),
            )
            return (next_state, obs_space.contains(next_obs)), recording

        key_reset, key_steps = jax.random.split(key)
        obs, state = env.reset(key_reset, params)
        # `scan` refuses a weakly typed carry, which another rule reports.
        start = (trees.narrow(state), obs_space.contains(obs))
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
            final_obs=env.observe(outcome.state, params),
            fresh=env.restart(random.reset_key(key), done, outcome.state, params),
        )


def _ends_and_others(steps: Recording) -> np.ndarray[Any, Any]:
    """Numbers of steps in the flattened recording: half of them ends of episodes, where there are so many."""
    done = steps.terminated | steps.truncated
    ended = done.reshape(*done.shape[:2], -1).any(-1).reshape(-1)
    half = _NUM_DISSECTED // 2
    return np.resize([*np.flatnonzero(ended)[:half], *np.flatnonzero(~ended)[:half]], _NUM_DISSECTED)
