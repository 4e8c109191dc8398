"""Rules about JAX's transformations."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import keystr, tree_leaves_with_path

from envcore_testing.breaches import Breach, breach_of_error
from envcore_testing.compilation import CompilationCount, quick_jit
from envcore_testing.subject import SHORT_LIMIT, Subject
from envcore_testing.trees import float_params, mapped_axes, take, value_differences

_STEP = ("step", "transition")


def compiles_once(subject: Subject) -> Iterator[Breach]:
    """Repeated steps, and an equal environment, compile nothing new."""
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
            yield Breach(
                f"{what} compiled {compilations.count} new programs: the types of the state must not change, copies "
                "must be equal and have the same hash, and step must not make a new jitted function.",
                subject.place(*_STEP),
            )


def vmap_equals_loop(subject: Subject) -> Iterator[Breach]:
    """`step` under `vmap` gives the same as a loop over the environments."""
    for problem in subject.shared(_differences_under_vmap)[0]:
        yield Breach(f"a step under vmap differs from that of a loop: {problem}.", subject.place(*_STEP))


def jit_equals_eager(subject: Subject) -> Iterator[Breach]:
    """`step` under `jax.disable_jit()` gives the same as the compiled one."""
    for (params, parts), single_steps in zip(subject.dissections, subject.single_steps, strict=True):
        done = [bool(np.any(step[3])) for step in single_steps]
        for index in {done.index(end) for end in (False, True) if end in done}:
            with jax.disable_jit():
                eager = subject.step_alone(parts, index, params)
            problems = value_differences(eager, single_steps[index])
            for problem in problems:
                yield Breach(
                    f"a step without jit differs from that with jit: {problem}. "
                    "The rules must depend on their arguments alone.",
                    subject.place(*_STEP),
                )
            if problems:
                return


def legacy_keys(subject: Subject) -> Iterator[Breach]:
    """A legacy key (`jax.random.PRNGKey(seed)`) gives the same as the typed key (`jax.random.key(seed)`)."""
    if _program(subject, lambda words: words) == _program(subject, jax.random.wrap_key_data):
        return
    # Different programs may still give the same results.
    for params, parts in subject.dissections:
        for index in range(len(parts.key)):
            legacy = subject.step_alone(parts, index, params, jax.random.PRNGKey(index))
            typed = subject.step_alone(parts, index, params, jax.random.key(index))
            problems = value_differences(legacy, typed)
            for problem in problems:
                yield Breach(
                    f"a step with a legacy key differs from that with the typed key: {problem}.",
                    subject.place("draw", "draw_start", "init_state", "transition"),
                )
            if problems:
                return


def batched_params(subject: Subject) -> Iterator[Breach]:
    """`reset` and `step` can be mapped over every float param, and give the same as a loop over its values."""
    problems = subject.shared(_differences_under_vmap)[1]
    if subject.batching_error is not None:
        found = list(_unmappable(subject))
        yield from found or [breach_of_error(subject.batching_error, subject.place(*_STEP))]
    for problem in problems:
        yield Breach(
            f"a step under vmap over the float params differs from that of a loop: {problem}.", subject.place(*_STEP)
        )


def finite_gradients(subject: Subject) -> Iterator[Breach]:
    """A `differentiable` environment has finite gradients by state, action and params, not all of them zero."""
    gradients, place = _gradients(subject), subject.place("transition")
    infinite = sorted(
        {name for each in gradients for name, gradient in each.items() if not np.isfinite(gradient).all()}
    )
    for name in infinite:
        yield Breach(
            f"the gradient with respect to {name} is not finite: fix it, or do not declare differentiable.", place
        )
    if not infinite and not any(np.any(gradient) for each in gradients for gradient in each.values()):
        yield Breach("every gradient is zero: do not declare differentiable.", place)


def no_float_params(subject: Subject) -> str | None:
    """Why the rule about batched params does not apply; None if it does."""
    return None if float_params(subject.params) else "the params have no floats"


def not_differentiable(subject: Subject) -> str | None:
    """Why the rule about gradients does not apply; None if it does."""
    return None if subject.env.differentiable else "the environment is not declared differentiable"


def _differences_under_vmap(subject: Subject) -> tuple[list[str], list[str]]:
    """What `vmap` changes with the same params for all steps, and what only where params are mapped too."""
    problems = _differences_of_a_step(subject.dissections, subject.single_steps)
    if not problems or subject.batching_error is not None or not float_params(subject.params):
        return problems, []
    dissections = subject.dissect(batch_params=False)
    singles = [[subject.step_alone(parts, i, params) for i in range(len(parts.key))] for params, parts in dissections]
    with_same_params = _differences_of_a_step(dissections, singles)
    return with_same_params, [] if with_same_params else problems


def _differences_of_a_step(dissections: Any, singles: list[list[tuple[Any, ...]]]) -> list[str]:
    """Of the first step that differs."""
    for (_, parts), single_steps in zip(dissections, singles, strict=True):
        for index, alone in enumerate(single_steps):
            problems = value_differences(take(parts.step, index), alone)
            if problems:
                return problems
    return []


def _unmappable(subject: Subject) -> Iterator[Breach]:
    """The float params that `reset` or `step` cannot be mapped over one by one."""
    env, types = subject.env, subject.types
    methods: dict[str, Callable[..., Any]] = {
        "reset": lambda key, state, action, params: env.reset(key, params),
        "step": env.step,
    }
    for (method, fun), name in ((item, name) for item in methods.items() for name in float_params(subject.params)):
        axes = mapped_axes(subject.params, [name])
        params = jax.tree.map(lambda x, axis: x if axis is None else x[None], subject.params, axes, is_leaf=_is_none)
        try:
            jax.eval_shape(jax.vmap(fun, (None, None, None, axes)), subject.key, types.reset[1], types.action, params)
        except Exception as error:
            place = breach_of_error(error, subject.place("init_state" if method == "reset" else "transition")).place
            yield Breach(f"vmap of {method} over params{name} fails: {error}", place)


def _program(subject: Subject, key_of: Callable[[jax.Array], jax.Array]) -> str:
    """The program of a reset and a step as text, from the words of a key. Nothing is compiled."""

    def program(words: jax.Array, state: Any, action: Any, params: Any) -> Any:
        key = key_of(words)
        return subject.env.reset(key, params), subject.env.step(key, state, action, params)

    words = jax.eval_shape(lambda: jax.random.PRNGKey(0))
    return jax.jit(program).lower(words, subject.types.reset[1], subject.types.action, subject.params).as_text()


def _gradients(subject: Subject) -> list[dict[str, Any]]:
    """Gradients of the sum of all floats that `step` returns, under the path of each float input."""
    played = ((subject.params, subject.dissections[0][1]), (subject.limited(SHORT_LIMIT), subject.dissections[1][1]))
    inputs = [{"state": parts.state, "action": parts.action, "params": params} for params, parts in played]
    structure = jax.tree.structure(inputs[0])
    names = [keystr(path) for path, _ in tree_leaves_with_path(inputs[0])]  # in the order of `structure`

    def total(floats: dict[str, Any], leaves: dict[str, Any], words: jax.Array) -> jax.Array:
        given = jax.tree.unflatten(structure, [floats.get(name, leaves[name]) for name in names])
        key = subject.wrap_key(words)
        obs, state, reward, *_ = subject.env.step(key, given["state"], given["action"], given["params"])
        return jnp.stack([x.sum() for x in jax.tree.leaves((obs, state, reward)) if _is_float(x)]).sum()

    def axes(leaves: dict[str, Any]) -> dict[str, int | None]:
        return {name: None if name.startswith("['params']") else 0 for name in leaves}

    all_leaves = [dict(zip(names, jax.tree.leaves(each), strict=True)) for each in inputs]
    all_floats = [{name: leaf for name, leaf in leaves.items() if _is_float(leaf)} for leaves in all_leaves]
    gradients = quick_jit(jax.vmap(jax.grad(total), (axes(all_floats[0]), axes(all_leaves[0]), 0)))
    return [
        gradients(floats, leaves, parts.key)
        for floats, leaves, (_, parts) in zip(all_floats, all_leaves, played, strict=True)
    ]


def _is_none(x: Any) -> bool:
    return x is None


def _is_float(leaf: Any) -> bool:
    return jnp.issubdtype(leaf.dtype, jnp.floating)
