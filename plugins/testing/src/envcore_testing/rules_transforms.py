"""Rules about JAX transformations."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import keystr, tree_map_with_path

from envcore_testing.compilation import CompilationCount, quick_jit
from envcore_testing.subject import Subject
from envcore_testing.trees import float_leaves, take, value_differences, with_leaf


def compiles_once(subject: Subject) -> Iterator[str]:
    """Repeated steps and steps of an equal environment do not compile again."""
    env, params = subject.env, subject.params
    action = jax.tree.map(jnp.asarray, take(subject.recording.action, (0, 0)))

    def play(env: Any, num_steps: int) -> None:
        _, state = env.reset(subject.key, params)
        for _ in range(num_steps):
            _, state, *_ = env.step(subject.key, state, action, params)

    play(env, 1)
    for what, again in (("another step", env), ("an equal environment", dataclasses.replace(env))):
        with CompilationCount() as compilations:
            play(again, 2)
        if compilations.count:
            yield f"step: {what} compiled {compilations.count} new programs"


def vmap_equals_loop(subject: Subject) -> Iterator[str]:
    """`step` under `vmap` gives the same results as a loop over the environments."""
    for index, alone in enumerate(subject.single_steps):
        problems = value_differences(take(subject.steps.step, index), alone)
        if problems:
            yield from (f"step: under vmap, {problem}" for problem in problems)
            return


def jit_equals_eager(subject: Subject) -> Iterator[str]:
    """`step` under `jax.disable_jit()` gives the same results as the compiled `step`."""
    done = [bool(np.any(step[3])) for step in subject.single_steps]
    for index in [done.index(end) for end in (False, True) if end in done]:
        with jax.disable_jit():
            eager = subject.step_alone(index)
        problems = value_differences(eager, subject.single_steps[index])
        if problems:
            yield from (f"step: without jit, {problem}" for problem in problems)
            return


def legacy_keys(subject: Subject) -> Iterator[str]:
    """A legacy key (`jax.random.PRNGKey(seed)`) gives the same results as a typed key (`jax.random.key(seed)`)."""
    if _program(subject, lambda words: words) == _program(subject, jax.random.wrap_key_data):
        return
    for index in range(len(subject.steps.key)):  # different programs may still give the same results
        legacy, typed = (subject.step_alone(index, key(index)) for key in (jax.random.PRNGKey, jax.random.key))
        problems = value_differences(legacy, typed)
        if problems:
            yield from (f"draw, draw_start, step: with a legacy key, {problem}" for problem in problems)
            return


def batched_params(subject: Subject) -> Iterator[str]:
    """`jax.vmap` can map `reset` and `step` over every float param."""
    env, types, params = subject.env, subject.types, subject.params
    methods: dict[str, Callable[..., Any]] = {"reset": lambda key, state, action, params: env.reset(key, params)}
    methods["step"] = env.step
    for path, leaf in float_leaves(params):
        axes = tree_map_with_path(lambda where, _, path=path: 0 if where == path else None, params)
        for method, fun in methods.items():
            try:
                mapped = jax.vmap(fun, (None, None, None, axes))
                jax.eval_shape(mapped, subject.key, types.reset[1], types.action, with_leaf(params, path, leaf[None]))
            except Exception as error:
                yield f"{method}: it cannot be mapped over params{keystr(path)}: {error}"


def finite_gradients(subject: Subject) -> Iterator[str]:
    """Gradients of a `differentiable` environment with respect to state, action and params are finite."""
    for path, gradient in subject.shared(_gradients):
        if not np.isfinite(gradient).all():
            yield f"transition: the gradient with respect to {keystr(path)} is not finite"


def nonzero_gradients(subject: Subject) -> Iterator[str]:
    """At least one gradient of a `differentiable` environment by state, action or params is nonzero."""
    if not any(np.any(gradient) for _, gradient in subject.shared(_gradients)):
        yield "transition: every gradient is zero"


def not_differentiable(subject: Subject) -> str | None:
    """Returns why the rules about gradients do not apply, or None if they apply."""
    return None if subject.env.differentiable else "the environment is not declared differentiable"


def _program(subject: Subject, key_of: Callable[[jax.Array], jax.Array]) -> str:
    """Lowers a reset and a step to text, without compiling. `key_of` makes the key from its words."""

    def program(words: jax.Array, state: Any, action: Any, params: Any) -> Any:
        key = key_of(words)
        return subject.env.reset(key, params), subject.env.step(key, state, action, params)

    words = jax.eval_shape(lambda: jax.random.PRNGKey(0))
    return jax.jit(program).lower(words, subject.types.reset[1], subject.types.action, subject.params).as_text()


def _gradients(subject: Subject) -> list[tuple[Any, Any]]:
    """Returns each float input's path, and the gradient of the sum of `step`'s float outputs with respect to it."""

    def total(inputs: dict[str, Any], words: jax.Array) -> jax.Array:
        obs, state, reward, *_ = subject.env.step(subject.wrap_key(words), **inputs)
        return jnp.stack([x.sum() for _, x in float_leaves((obs, state, reward))]).sum()

    steps = subject.steps
    inputs = {"state": steps.state, "action": steps.action, "params": subject.params}
    axes = ({"state": 0, "action": 0, "params": None}, 0)
    gradients = quick_jit(jax.vmap(jax.grad(total, allow_int=True), axes))(inputs, steps.key)
    return float_leaves(gradients)
