"""The extreme values that an environment accepts of its params, and whether its observations stay finite with them."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from envcore.engine.arguments import checked_params, param_names
from envcore.errors import InvalidParamsError

_LARGEST = float(np.finfo(np.float32).max)
_SIZES = [10.0**power for power in range(-37, 39)]


def scalars(env: Any) -> list[str]:
    """The names of the params that are one float."""
    values = {name: np.asarray(_value(env.default_params, name)) for name in param_names(env.default_params)}
    return [name for name, value in values.items() if value.dtype.kind == "f" and value.ndim == 0]


def extremes(env: Any, name: str) -> list[float]:
    """The largest and the smallest sizes of either sign that one param may have beside the defaults, 0 and infinity."""

    def accepts(value: float) -> bool:
        try:
            checked_params(env, env.default_params.replace(**{name: value}))
        except InvalidParamsError:
            return False
        return True

    found = {value for value in (0.0, np.inf, -np.inf) if accepts(value)}
    default = abs(float(_value(env.default_params, name)))
    for sign in (1.0, -1.0):
        sizes = sorted(size for size in {*_SIZES, default, _LARGEST} if size)
        good = [size for size in sizes if accepts(sign * size)]
        for good_end, step in ((good[-1:], 1), (good[:1], -1)):
            for size in good_end:
                beyond = sizes.index(size) + step
                bad = sizes[beyond] if 0 <= beyond < len(sizes) else size
                found.add(sign * _last(lambda x, sign=sign: accepts(sign * x), size, bad))
    return sorted(found)


def stays_finite(env: Any, params: Any, num_envs: int = 64, num_steps: int = 200) -> bool:
    """Whether all observations of a rollout with random actions are finite."""
    return bool(_stays_finite(env, jax.device_put(checked_params(env, params)), num_envs, num_steps))


@functools.partial(jax.jit, static_argnums=(0, 2, 3))
def _stays_finite(env: Any, params: Any, num_envs: int, num_steps: int) -> jax.Array:
    space = env.action_space(params)

    def episode(key: jax.Array) -> jax.Array:
        key_reset, key_steps = jax.random.split(key)
        obs, state = env.reset(key_reset, params)

        def step(state: Any, key: jax.Array) -> tuple[Any, jax.Array]:
            key_action, key_step = jax.random.split(key)
            obs, state, _, _, info = env.step(key_step, state, space.sample(key_action), params)
            return state, _is_finite((obs, info["final_obs"]))

        return _is_finite(obs) & jax.lax.scan(step, state, jax.random.split(key_steps, num_steps))[1].all()

    return jax.vmap(episode)(jax.random.split(jax.random.key(0), num_envs)).all()


def _is_finite(tree: Any) -> jax.Array:
    return jnp.stack([jnp.isfinite(leaf).all() for leaf in jax.tree.leaves(tree)]).all()


def _last(accepts: Any, good: float, bad: float) -> float:
    """The accepted number nearest to `bad`, which is refused, within a millionth; `good` is accepted."""
    while abs(bad - good) > 1e-6 * max(good, bad):
        middle = (good * bad) ** 0.5
        good, bad = (middle, bad) if accepts(middle) else (good, middle)
    return good


def _value(params: Any, name: str) -> Any:
    own = {field.name for field in dataclasses.fields(params)}
    return getattr(params, name) if name in own else _value(params.env_params, name)
