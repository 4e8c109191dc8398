"""Environments and policies as programs that need nothing but JAX: `jax.export`, with any number of environments.

    from envcore_runs.export import export_reset, export_step

    Path("reset.bin").write_bytes(export_reset(env, params).serialize())
    Path("step.bin").write_bytes(export_step(env, params).serialize())

Elsewhere, where only JAX is installed:

    import jax.export

    reset = jax.export.deserialize(Path("reset.bin").read_bytes()).call
    step = jax.export.deserialize(Path("step.bin").read_bytes()).call
    keys = jax.random.split(jax.random.PRNGKey(0), 100)
    obs, state = reset(keys)
    obs, state, reward, terminated, truncated = step(keys, state, actions)

`serialize` and `deserialize` need the package flatbuffers beside JAX.

The first axis of all arrays is that of the environments. Keys are legacy keys, uint32 (num_envs, 2). States are
dictionaries of arrays, by the names of their fields. The params are part of the program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from envcore import checks, random
from envcore.engine import arguments
from envcore.environment import Environment
from envcore.errors import InvalidArgumentError
from envcore.rollout import Policy
from flax.serialization import from_state_dict, to_state_dict
from jax import export

PLATFORMS = ("cpu", "cuda", "tpu")


def export_reset(env: Environment, params: Any = None, platforms: Sequence[str] = PLATFORMS) -> export.Exported:
    """Exports `reset(keys) -> (obs, state)`."""
    params = _params(env, params)

    def reset(keys: jax.Array) -> tuple[Any, Any]:
        obs, state = jax.vmap(env.reset, (0, None))(keys, params)
        return obs, to_state_dict(state)

    return _exported(reset, platforms, _key())


def export_step(env: Environment, params: Any = None, platforms: Sequence[str] = PLATFORMS) -> export.Exported:
    """Exports `step(keys, state, action) -> (obs, state, reward, terminated, truncated)`, with auto-reset."""
    params = _params(env, params)
    struct = arguments.state_struct(env)

    def step(keys: jax.Array, state: Any, action: Any) -> tuple[Any, ...]:
        state = from_state_dict(struct, state)
        obs, state, reward, _, info = jax.vmap(env.step, (0, 0, 0, None))(keys, state, action, params)
        return obs, to_state_dict(state), reward, info["terminated"], info["truncated"]

    return _exported(step, platforms, _key(), to_state_dict(struct), _action(env, params))


def export_policy(
    policy: Policy,
    env: Environment,
    params: Any = None,
    policy_params: Any = None,
    platforms: Sequence[str] = PLATFORMS,
) -> export.Exported:
    """Exports `act(keys, obs) -> action`, of a policy `(policy_params, obs, key) -> action` for one environment."""
    params = _params(env, params)

    def act(keys: jax.Array, obs: Any) -> Any:
        return jax.vmap(lambda key, obs: policy(policy_params, obs, key))(keys, obs)

    obs = jax.eval_shape(env.reset, _key(), params)[0]
    return _exported(act, platforms, _key(), obs)


def export_rollout(
    env: Environment,
    policy: Policy,
    num_steps: int,
    params: Any = None,
    policy_params: Any = None,
    platforms: Sequence[str] = PLATFORMS,
) -> export.Exported:
    """Exports `rollout(keys) -> (obs, action, reward, terminated, truncated)` of `num_steps` steps with auto-reset.

    The results have a second axis for time. The observations are those before the steps.

    Raises:
      InvalidArgumentError: num_steps is not a positive integer.
    """
    params = _params(env, params)
    num_steps = checks.positive_integer("num_steps", num_steps, InvalidArgumentError)

    def one(key: jax.Array) -> tuple[Any, ...]:
        key, key_reset = random.split(key)

        def body(carry: tuple[Any, Any, jax.Array], _: None) -> tuple[Any, tuple[Any, ...]]:
            obs, state, key = carry
            keys = random.split(key, 3)
            action = policy(policy_params, obs, keys[1])
            next_obs, state, reward, _done, info = env.step(keys[2], state, action, params)
            return (next_obs, state, keys[0]), (obs, action, reward, info["terminated"], info["truncated"])

        return jax.lax.scan(body, (*env.reset(key_reset, params), key), None, num_steps)[1]

    return _exported(jax.vmap(one), platforms, _key())


def _params(env: Environment, params: Any) -> Any:
    if env.batch_shape:
        raise InvalidArgumentError(f"only single environments can be exported, this is a batch of {env.batch_shape}.")
    return arguments.default_params(env) if params is None else arguments.checked_params(env, params)


def _key() -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct((2,), jnp.uint32)


def _action(env: Environment, params: Any) -> Any:
    return jax.eval_shape(env.action_space(params).sample, _key())


def _exported(fun: Callable[..., Any], platforms: Sequence[str], *args: Any) -> export.Exported:
    """Exports a function of batches, from the types of one row of each argument."""
    (num_envs,) = export.symbolic_shape("num_envs")
    rows = jax.tree.map(lambda x: jax.ShapeDtypeStruct((num_envs, *x.shape), x.dtype), args)
    return export.export(jax.jit(fun), platforms=platforms)(*rows)
