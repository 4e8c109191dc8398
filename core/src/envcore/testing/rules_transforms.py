"""Rules about JAX's transformations."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Collection
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import keystr, tree_leaves_with_path, tree_map_with_path

from envcore.errors import ConformanceError
from envcore.testing.compare import take, value_difference
from envcore.testing.compilation import CompilationCount, quick_jit
from envcore.testing.subject import Subject

_SCALES = np.array([1.0, 0.99, 1.01], np.float32)


def compiles_once(subject: Subject) -> None:
    """Repeated steps, and an equal environment, compile nothing new."""
    env, params, action = subject.env, subject.params, take(subject.recording.action, (0, 0))

    def play(env: Any, num_steps: int) -> None:
        _, state = env.reset(subject.key, params)
        for _ in range(num_steps):
            _, state, *_ = env.step(subject.key, state, action, params)

    play(env, 1)
    for what, again in (("another step", env), ("an equal environment", dataclasses.replace(env))):
        with CompilationCount() as compilations:
            play(again, 2)
        if compilations.count:
            raise ConformanceError(
                f"{what} compiled {compilations.count} programs anew: the types of the state must not change, "
                "equal environments must be equal and hash equally, and step must make no jitted function of its own."
            )


def vmap_equals_loop(subject: Subject) -> None:
    """`step` under `vmap` gives what a loop over the environments gives."""
    for (_, parts), single_steps in zip(subject.dissections, subject.single_steps, strict=True):
        for index, alone in enumerate(single_steps):
            problem = value_difference(take(parts.step, index), alone)
            if problem is not None:
                raise ConformanceError(f"a step under vmap is not that of a loop: {problem}.")


def jit_equals_eager(subject: Subject) -> None:
    """`step` under `jax.disable_jit()` gives what the compiled one gives."""
    for (params, parts), single_steps in zip(subject.dissections, subject.single_steps, strict=True):
        done = [bool(np.any(step[3])) for step in single_steps]
        for index in {done.index(end) for end in (False, True) if end in done}:
            with jax.disable_jit():
                eager = subject.step_alone(parts, index, params)
            problem = value_difference(eager, single_steps[index])
            if problem is not None:
                raise ConformanceError(
                    f"a step without jit is not that with jit: {problem}. "
                    "The rules must depend on their arguments alone."
                )


def legacy_keys(subject: Subject) -> None:
    """A legacy key (`jax.random.PRNGKey(seed)`) gives what the typed key (`jax.random.key(seed)`) gives."""
    for params, parts in subject.dissections:
        for index in range(len(parts.key)):
            legacy = subject.step_alone(parts, index, params, jax.random.PRNGKey(index))
            typed = subject.step_alone(parts, index, params, jax.random.key(index))
            problem = value_difference(legacy, typed)
            if problem is not None:
                raise ConformanceError(f"a legacy key gives another step than the typed key: {problem}.")


def batched_params(subject: Subject) -> None:
    """`reset` and `step` can be mapped over every float param, and give what a loop over its values gives."""
    env = subject.env
    names = float_params(subject)
    _, parts = subject.dissections[0]
    key, state, action = take((parts.key, parts.state, parts.action), 0)

    def reset(params: Any) -> Any:
        return env.reset(key, params)

    def step(params: Any) -> Any:
        return env.step(key, state, action, params)

    for fun, name in itertools.product((reset, step), names):
        try:
            jax.eval_shape(_mapped(fun, subject.params, {name}), _scaled(subject.params, {name}, _SCALES))
        except Exception as error:
            raise ConformanceError(f"vmap of {fun.__name__} over params{name} fails: {error}") from error
    params = subject.limited(1)  # so that the step resets
    steps = quick_jit(_mapped(step, params, names))(_scaled(params, names, _SCALES))
    for number, scale in enumerate(_SCALES):
        alone = subject.step_alone(parts, 0, _scaled(params, names, scale))
        problem = value_difference(take(steps, number), alone)
        if problem is not None:
            raise ConformanceError(f"a step under vmap over the float params is not that of a loop: {problem}.")


def finite_gradients(subject: Subject) -> None:
    """Gradients by state, action and params are finite, and not all zero, where `differentiable` is declared."""
    gradients = [_gradients(subject, params, parts) for params, parts in subject.dissections]
    for name, gradient in (item for each in gradients for item in each.items()):
        if not np.isfinite(gradient).all():
            raise ConformanceError(f"the gradient by {name} is not finite: mend it, or do not declare differentiable.")
    if not any(np.any(gradient) for each in gradients for gradient in each.values()):
        raise ConformanceError("every gradient is zero: do not declare differentiable.")


def float_params(subject: Subject) -> list[str]:
    """The paths of the float leaves of the params."""
    return [keystr(path) for path, leaf in tree_leaves_with_path(subject.params) if _is_float(leaf)]


def _mapped(fun: Callable[[Any], Any], params: Any, names: Collection[str]) -> Callable[[Any], Any]:
    """`fun` of params, mapped over the named leaves."""
    return jax.vmap(fun, (tree_map_with_path(lambda path, _: 0 if keystr(path) in names else None, params),))


def _scaled(params: Any, names: Collection[str], scale: Any) -> Any:
    """The named leaves times `scale`; a scale of shape (n,) gives them a first axis of n."""

    def leaf(path: Any, x: np.ndarray[Any, Any]) -> Any:
        return np.multiply.outer(scale, x) if keystr(path) in names else x

    return tree_map_with_path(leaf, params)


def _gradients(subject: Subject, params: Any, parts: Any) -> dict[str, Any]:
    """Gradients of the sum of everything real that `step` returns, by the path of each real input."""
    inputs = {"state": parts.state, "action": parts.action, "params": params}
    structure = jax.tree.structure(inputs)
    leaves = {keystr(path): leaf for path, leaf in tree_leaves_with_path(inputs)}
    names = list(leaves)  # in the order of `structure`: JAX sorts the keys of dicts
    floats = {name: leaf for name, leaf in leaves.items() if _is_float(leaf)}

    def total(floats: dict[str, Any], leaves: dict[str, Any], key: jax.Array) -> jax.Array:
        given = jax.tree.unflatten(structure, [floats.get(name, leaves[name]) for name in names])
        obs, state, reward, *_ = subject.env.step(key, given["state"], given["action"], given["params"])
        return jnp.stack([x.sum() for x in jax.tree.leaves((obs, state, reward)) if _is_float(x)]).sum()

    def axes(leaves: dict[str, Any]) -> dict[str, int | None]:
        return {name: None if name.startswith("['params']") else 0 for name in leaves}

    return quick_jit(jax.vmap(jax.grad(total), (axes(floats), axes(leaves), 0)))(floats, leaves, parts.key)


def _is_float(leaf: Any) -> bool:
    return jnp.issubdtype(leaf.dtype, jnp.floating)
