"""What the rules look at: an environment, and what it did, recorded once and read by many rules."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from envcore import arguments, random, trees
from envcore.environment import Environment
from envcore.testing.compare import take
from envcore.testing.compilation import quick_jit

SHORT_LIMIT = 7
"""Time limit of the recording that is certain to hold the ends of episodes."""
MIN_STEPS = 16

_NUM_ENVS = 4
_NUM_DISSECTED = 16


class Types(NamedTuple):
    """The types of what the environment takes and returns, as trees of `jax.ShapeDtypeStruct`."""

    reset: tuple[Any, Any]
    action: Any
    step: tuple[Any, ...]
    step_env: tuple[Any, ...]


class Recording(NamedTuple):
    """Episodes with random actions. Every leaf has the leading axes (environment, step).

    Attributes:
      key: of the step.
      state: before the step.
      action: as sampled.
      reward: as returned, like the four after it.
      action_inside: the action is in its space; scalars, like the two after it.
      obs_inside: the observations before the step and after it, before any reset, are in their space.
      state_inside: likewise the states.
    """

    key: jax.Array
    state: Any
    action: Any
    reward: jax.Array
    done: jax.Array
    terminated: jax.Array
    truncated: jax.Array
    discount: jax.Array
    action_inside: jax.Array
    obs_inside: jax.Array
    state_inside: jax.Array


class Dissection(NamedTuple):
    """Single steps under `vmap`, and the parts that they should be made of. Every leaf has one leading axis.

    Attributes:
      key, state, action: what went in.
      step: what `step` returned.
      step_env: what `step_env` returned.
      outcome: what `advance` returned: the reference for both.
      obs: `get_obs` of the state that `step` returned.
      final_obs: `get_obs` of `outcome.state`.
      fresh: the state of `reset` with the key of the auto-reset, after `carry_over`.
    """

    key: jax.Array
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
    """An environment under check. What costs a compilation is made on first use and kept."""

    def __init__(self, env: Environment[Any, Any], params: Any, key: jax.Array | None, num_steps: int):
        self.env = env
        self.num_steps = num_steps
        self._given_params = params
        self._given_key = key

    @property
    def is_wrapped(self) -> bool:
        """Whether the environment is a wrapper around another."""
        return self.env.unwrapped is not self.env

    @functools.cached_property
    def key(self) -> jax.Array:
        """The random key of the check, a typed one."""
        key = jax.random.key(0) if self._given_key is None else self._given_key
        return key if jnp.issubdtype(key.dtype, jax.dtypes.prng_key) else jax.random.wrap_key_data(key)

    @functools.cached_property
    def params(self) -> Any:
        """The params under check, as numpy arrays with their dtypes."""
        return arguments.checked_params(self.env, self._given_params)

    def limited(self, limit: int) -> Any:
        """The params with another time limit."""
        return self.params.replace(max_steps_in_episode=np.int32(limit))

    @functools.cached_property
    def types(self) -> Types:
        """The types under JAX's default numerics."""
        return self.trace_types()

    def trace_types(self) -> Types:
        """Finds the types by tracing anew, under the numerics that are in force."""
        reset = jax.eval_shape(self.env.reset, self.key, self.params)
        action = jax.eval_shape(self.env.action_space(self.params).sample, self.key)
        step = (self.key, reset[1], action, self.params)
        return Types(reset, action, jax.eval_shape(self.env.step, *step), jax.eval_shape(self.env.step_env, *step))

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
        return self._record(jax.random.split(self.key, _NUM_ENVS), params)

    @functools.cached_property
    def dissections(self) -> tuple[tuple[Any, Dissection], ...]:
        """Steps of either recording, taken apart, each with the params that they were played with."""
        played = ((self.params, self.recording), (self.limited(SHORT_LIMIT), self.short_recording))
        return tuple(
            (params, self._dissect((steps.key, steps.state, steps.action), _ends_and_others(steps), params))
            for params, steps in played
        )

    @functools.cached_property
    def single_steps(self) -> list[list[tuple[Any, ...]]]:
        """`step` of the dissected steps, one by one."""
        return [
            [self.step_alone(parts, index, params) for index in range(_NUM_DISSECTED)]
            for params, parts in self.dissections
        ]

    def step_alone(self, parts: Dissection, index: int, params: Any, key: jax.Array | None = None) -> tuple[Any, ...]:
        """Repeats one dissected step without `vmap`, with another key if given."""
        own_key, state, action = take((parts.key, parts.state, parts.action), index)
        return self.env.step(own_key if key is None else key, state, action, params)

    @functools.cached_property
    def _record(self) -> Any:
        return quick_jit(jax.vmap(self._play, (0, None)))

    def _play(self, key: jax.Array, params: Any) -> Recording:
        env = self.env
        action_space, obs_space = env.action_space(params), env.observation_space(params)
        state_space = env.state_space(params)

        def body(carry: tuple[Any, Any], key: jax.Array) -> tuple[tuple[Any, Any], Recording]:
            obs, state = carry
            key_action, key_step = jax.random.split(key)
            action = action_space.sample(key_action)
            next_obs, next_state, reward, done, info = env.step(key_step, state, action, params)
            final_state = env.advance(key_step, state, action, params).state
            recording = Recording(
                key=key_step,
                state=state,
                action=action,
                reward=reward,
                done=done,
                terminated=info["terminated"],
                truncated=info["truncated"],
                discount=info["discount"],
                action_inside=action_space.contains(action),
                obs_inside=obs_space.contains(obs) & obs_space.contains(info["final_obs"]),
                state_inside=state_space.contains(state) & state_space.contains(final_state),
            )
            return (next_obs, next_state), recording

        key_reset, key_steps = jax.random.split(key)
        # A weak type would not pass as a carry, but it is another rule's business.
        start = trees.narrow(env.reset(key_reset, params))
        return lax.scan(body, start, jax.random.split(key_steps, self.num_steps))[1]

    @functools.cached_property
    def _dissect(self) -> Any:
        def dissect(inputs: tuple[Any, Any, Any], index: jax.Array, params: Any) -> Dissection:
            inputs = jax.tree.map(lambda x: x.reshape(x.shape[0] * x.shape[1], *x.shape[2:])[index], inputs)
            return jax.vmap(self._dissect_step, (0, 0, 0, None))(*inputs, params)

        return quick_jit(dissect)

    def _dissect_step(self, key: jax.Array, state: Any, action: Any, params: Any) -> Dissection:
        env = self.env
        step = env.step(key, state, action, params)
        outcome = env.advance(key, state, action, params)
        _, fresh = env.reset(random.reset_key(key), params)
        return Dissection(
            key=key,
            state=state,
            action=action,
            step=step,
            step_env=env.step_env(key, state, action, params),
            outcome=outcome,
            obs=env.get_obs(step[1], params),
            final_obs=env.get_obs(outcome.state, params),
            fresh=env.carry_over(fresh, outcome.state),
        )


def _ends_and_others(steps: Recording) -> np.ndarray[Any, Any]:
    """Numbers of steps in the flattened recording: half of them ends of episodes, where there are so many."""
    done = np.asarray(steps.terminated | steps.truncated)
    ended = done.reshape(*done.shape[:2], -1).any(-1).reshape(-1)
    half = _NUM_DISSECTED // 2
    return np.resize([*np.flatnonzero(ended)[:half], *np.flatnonzero(~ended)[:half]], _NUM_DISSECTED)
