"""Compare an environment with another implementation, step by step. Use it to test bridges and ports."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from envcore import random
from envcore.engine import arguments
from envcore.environment import Environment
from envcore.errors import InvalidArgumentError
from jax import lax

from envcore_testing.errors import ConformanceError
from envcore_testing.numerics import numerics
from envcore_testing.trees import exact_differences, on_host, take

_PARTS = ("final_obs", "reward", "terminated", "truncated", "obs")
"""The parts of a step to compare, causes before effects, so that the first difference is the most useful one."""


def check_lockstep(
    env: Environment,
    reset: Callable[[jax.Array], tuple[Any, Any]],
    step: Callable[[Any, Any, jax.Array], tuple[Any, ...]],
    *,
    params: Any = None,
    key: jax.Array | None = None,
    num_steps: int = 500,
    policy: Callable[[jax.Array, Any, Any], Any] | None = None,
) -> int:
    """Checks that two implementations give exactly the same steps for the same actions and keys.

    Each implementation runs in a separate compiled program, with XLA's default rounding even if you called
    `compile_quickly`. When an episode ends, both start the next one with the same key.

    Args:
      env: the environment.
      reset: the other implementation's `reset(key) -> (state, obs)`. The key is a legacy key.
      step: the other implementation's `step(state, action, key) -> (state, obs, reward, terminated)`. It may return
        `truncated` as a fifth value. Otherwise the time limit of `params` applies.
      params: the environment's params. None for the defaults.
      key: a random key. The default is `jax.random.key(0)`.
      num_steps: number of steps.
      policy: `policy(key, state, params) -> action`, given the environment's state. The default is
        `mostly_legal_action`.

    Returns:
      The number of episodes that ended.

    Raises:
      ConformanceError: an observation, a reward or the end of an episode differs. The message names the first step that
        differs.
    """
    params = arguments.checked_params(env, params)
    key = jax.random.key(0) if key is None else key
    policy = functools.partial(mostly_legal_action, env) if policy is None else policy

    def ours(key: jax.Array, params: Any) -> Any:
        def advance(state: Any, key: jax.Array) -> Any:
            key_action, key_step = random.split(key)
            action = policy(key_action, state, params)
            obs, state, reward, _, info = env.step(key_step, state, action, params)
            return state, (action, (info["final_obs"], reward, info["terminated"], info["truncated"], obs))

        key_reset, key_steps = random.split(key)
        obs, state = env.reset(key_reset, params)
        _, (actions, steps) = lax.scan(advance, state, random.split(key_steps, num_steps))
        return actions, (obs, steps)

    def theirs(key: jax.Array, params: Any, actions: Any) -> Any:
        def fresh(key: jax.Array) -> tuple[Any, ...]:
            with numerics():
                return (*reset(random.key_words(key)), 0)

        def advance(carry: Any, played: Any) -> tuple[Any, ...]:
            (state, time), (action, key) = carry, played
            _, key_step = random.split(key)
            with numerics():
                state, obs, reward, terminated, *truncated = step(state, action, random.key_words(key_step))
                truncated = truncated[0] if truncated else time + 1 >= params.max_steps_in_episode
                terminated, truncated = (jnp.asarray(flag).astype(jnp.bool_) for flag in (terminated, truncated))
                after = state, obs, time + 1
                first = fresh(random.reset_key(key_step))
                ended = terminated | truncated
                state, now, time = jax.tree.map(lambda x, y: jnp.where(ended, x, y), first, after)
            return (state, time), (obs, reward, terminated, truncated, now)

        key_reset, key_steps = random.split(key)
        played = actions, random.split(key_steps, num_steps)
        state, obs, time = fresh(key_reset)
        types = jax.eval_shape(lambda carry: advance(carry, jax.tree.map(lambda x: x[0], played))[0], (state, time))
        start = jax.tree.map(lambda x, like: lax.convert_element_type(x, like.dtype), (state, time), types)
        return obs, lax.scan(lambda *args: conformed(advance(*args), types), start, played)[1]

    def conformed(result: Any, types: Any) -> Any:
        carry, out = result
        return jax.tree.map(lambda x, like: lax.convert_element_type(x, like.dtype), carry, types), out

    actions, played = _jit(ours)(key, params)
    (first, steps), (their_first, their_steps) = map(on_host, (played, _jit(theirs)(key, params, actions)))
    problems = exact_differences(first, _like(their_first, first), "obs")
    if problems:
        raise ConformanceError(f"{env.name}: after the reset, {problems[0]}.")
    their_steps = tuple(map(_like, their_steps, steps))
    for index in range(num_steps) if exact_differences(steps, their_steps) else ():
        for name, ours_now, theirs_now in zip(_PARTS, take(steps, index), take(their_steps, index), strict=True):
            problems = exact_differences(ours_now, theirs_now, name)
            if problems:
                raise ConformanceError(f"{env.name}: at step {index}, {problems[0]}.")
    return int((steps[2] | steps[3]).sum())


def _jit(play: Callable[..., Any]) -> Callable[..., Any]:
    """Compiles with XLA's default emitters, even if `compile_quickly` has turned them off.

    With the other emitters, the rounding of a product and a sum depends on how they are fused. This may differ between
    two programs with the same computation.
    """
    if jax.default_backend() == "cpu" and jax.__version_info__ < (0, 11):
        return jax.jit(play, compiler_options={"xla_cpu_use_fusion_emitters": True})
    return jax.jit(play)


def _like(theirs: Any, ours: Any) -> Any:
    """Converts their values to our structure and dtypes, unless this changes a value."""

    def leaf(theirs: Any, ours: Any) -> Any:
        theirs = np.asarray(theirs)
        cast = theirs.astype(ours.dtype)
        return cast if np.array_equal(cast, theirs, equal_nan=theirs.dtype.kind == "f") else theirs

    if jax.tree.structure(theirs) != jax.tree.structure(ours):
        return theirs
    return jax.tree.map(leaf, theirs, ours)


_SHARE_OF_ANY = 1 / 8


def mostly_legal_action(env: Environment, key: jax.Array, state: Any, params: Any) -> Any:
    """Samples a random action. If the environment has action masks, the action is legal in seven of eight steps.

    So episodes are long even if illegal actions end them, and illegal actions are tested too. Masks that
    `sample_legal` does not accept are ignored.
    """
    space, mask = env.action_space(params), env.action_mask(state, params)
    if mask is None:
        return space.sample(key)
    key_any, key_legal, key_which = random.split(key, 3)
    anything = space.sample(key_any)
    try:
        legal = space.sample_legal(key_legal, mask)
    except InvalidArgumentError:
        return anything
    return jnp.where(random.uniform(key_which) < _SHARE_OF_ANY, anything, legal)
