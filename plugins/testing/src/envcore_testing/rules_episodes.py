"""Rules about episodes. They check recordings of random actions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from envcore import trees
from envcore.engine import arguments

from envcore_testing.subject import SHORT_LIMIT, Recording, Subject, parts_of
from envcore_testing.trees import as_numpy, take, value_differences


def same_key_same_trace(subject: Subject) -> Iterator[str]:
    """The same key and params give the same episodes."""
    for problem in value_differences(subject.record(subject.params)._asdict(), subject.recording._asdict()):
        yield f"transition, init_state: with the same key, {problem}"


def no_key_of_its_own(subject: Subject) -> Iterator[str]:
    """`reset` and `step` do not make keys from a seed, so all randomness comes from the key."""
    env, state, action = subject.env, subject.types.reset[1], subject.types.action
    programs = {
        "reset": jax.make_jaxpr(env.reset)(subject.key, subject.params),
        "step": jax.make_jaxpr(env.step)(subject.key, state, action, subject.params),
    }
    for name, program in programs.items():
        if "random_seed" in str(program):
            yield f"{name}: it makes a key from a fixed seed"


def observations_in_space(subject: Subject) -> Iterator[str]:
    """Every observation, including the last one of an episode, is in the observation space."""
    steps, env, params = subject.recording, subject.env, subject.params
    space = env.observation_space(params)
    for name, part, _ in parts_of(space, subject.types.reset[0], "obs"):
        for problem in _everywhere(steps.obs_inside.get(name, True), steps, f"observe: {name} is not in {part!r}"):
            where = tuple(np.argwhere(~steps.obs_inside[name])[0])
            state, action = jax.tree.map(jnp.asarray, take((steps.state, steps.action), where))
            final_obs = env.step_env(subject.wrap_key(steps.key[where]), state, action, params)[0]
            for obs in (env.observe(state, params), final_obs):
                value = next(x for each, _, x in parts_of(space, obs, "obs") if each == name)
                if not part.contains(value):
                    with np.printoptions(threshold=8):
                        problem += f". It is {as_numpy(value)}"
                    break
            yield problem


def states_in_space(subject: Subject) -> Iterator[str]:
    """Every state, including the last one of an episode, is in the state space."""
    steps, space = subject.recording, subject.env.state_space(subject.params)
    for name, part, _ in parts_of(space, subject.types.reset[1], "state"):
        problem = f"transition, init_state: {name} is not in {part!r}"
        yield from _everywhere(steps.state_inside.get(name, True), steps, problem)


def finite_rewards(subject: Subject) -> Iterator[str]:
    """Every reward is a finite number."""
    yield from _everywhere(
        np.isfinite(subject.recording.reward), subject.recording, "transition: the reward is not finite"
    )


def done_flag(subject: Subject) -> Iterator[str]:
    """`done` is `terminated | truncated`."""
    steps = subject.both_recordings
    problem = "step: done is not terminated | truncated"
    yield from _everywhere(steps.done == (steps.terminated | steps.truncated), steps, problem)


def told_truncation(subject: Subject) -> Iterator[str]:
    """No step is truncated if `may_truncate(params)` returns False."""
    is_told = subject.env.may_truncate(subject.params)
    problem = "may_truncate: it returns False, but a step is truncated"
    yield from _everywhere(is_told | ~subject.recording.truncated, subject.recording, problem)


def discount(subject: Subject) -> Iterator[str]:
    """The discount is 0 on termination and 1 on every other step, including truncated steps."""
    steps = subject.both_recordings
    yield from _everywhere(
        steps.discount == 1 - steps.terminated, steps, "step: info['discount'] is not 1 - terminated"
    )


def observation_of_the_state(subject: Subject) -> Iterator[str]:
    """`step` returns the observation that `observe` computes from the returned state."""
    for problem in value_differences(subject.steps.step[0], subject.steps.obs, "obs"):
        yield f"step: {problem}, which observe(state, params) returns"


def final_observation(subject: Subject) -> Iterator[str]:
    """`info["final_obs"]` is the observation before the reset."""
    info = subject.steps.step[-1]
    for problem in value_differences(info["final_obs"], subject.steps.final_obs, "info['final_obs']"):
        yield f"step: {problem}, which was observed before the reset"


def action_mask(subject: Subject) -> Iterator[str]:
    """`info["action_mask"]` is the `action_mask` of the state that `step` returns."""
    info = subject.steps.step[-1]
    for problem in value_differences(info["action_mask"], subject.steps.mask, "info['action_mask']"):
        yield f"step: {problem}, which action_mask(state, params) returns"


def new_episode(subject: Subject) -> Iterator[str]:
    """`step` returns the state from `restart` if an episode has ended, and only then."""
    parts = subject.steps
    expected = trees.where(jnp.asarray(parts.ended), parts.fresh, parts.outcome.state)
    for problem in value_differences(parts.step[1], expected, "state"):
        yield f"step, restart: {problem}"


def time_limit(subject: Subject) -> Iterator[str]:
    """Episodes end at exactly `max_steps_in_episode`, or earlier only if a bridged library truncates by itself."""
    for limit in (1, SHORT_LIMIT, int(subject.params.max_steps_in_episode)):
        problem = _beyond_limit(subject, limit)
        if problem is not None and _truncates_by_itself(subject):
            problem = _beyond_limit(subject, limit, earlier=True)
        if problem is not None:
            yield problem


def step_env_without_reset(subject: Subject) -> Iterator[str]:
    """`step_env` returns the same as `step`, but before the reset."""
    parts = subject.steps
    expected = (parts.final_obs, parts.outcome.state, parts.step[2], parts.step[-1]["terminated"])
    for name, got, wanted in zip(("obs", "state", "reward", "terminated"), parts.step_env[:4], expected, strict=True):
        for problem in value_differences(got, wanted, name):
            yield f"step_env: {problem}"


def _everywhere(good: Any, steps: Recording, problem: str) -> Iterator[str]:
    bad = np.argwhere(~np.asarray(good))
    if len(bad):
        trace, step = bad[0][:2]
        with np.printoptions(threshold=8):
            state = jax.tree.map(as_numpy, take(steps.state, (trace, step)))
            yield f"{problem}, {len(bad)} times, first at step {step} of trace {trace}, in the state {state}"


def _rows(flags: Any) -> np.ndarray[Any, Any]:
    """Turns (environment, step, *batch) into (environment and batch, step)."""
    return np.moveaxis(np.asarray(flags), 1, -1).reshape(-1, flags.shape[1])


def _beyond_limit(subject: Subject, limit: int, *, earlier: bool = False) -> str | None:
    """Returns a problem with the ends of episodes under the limit. With `earlier`, they may be truncated before it."""
    steps = subject.record(subject.limited(limit))
    terminates = subject.env.unwrapped.time_limit_terminates
    for terminated, truncated in zip(_rows(steps.terminated), _rows(steps.truncated), strict=True):
        length = 0
        for is_end, is_cut in zip(terminated, truncated, strict=True):
            length += 1
            at_limit = length == limit
            wrong = is_cut != (at_limit and not terminates) and not (is_cut and earlier)
            if wrong or (at_limit and terminates and not is_end):
                flags = f"terminated={bool(is_end)}, truncated={bool(is_cut)}"
                return f"advance, step: with max_steps_in_episode={limit}, step {length} of an episode has {flags}"
            if is_end or is_cut:
                if subject.is_wrapped:  # only the first episode
                    break
                length = 0
    return None


def _truncates_by_itself(subject: Subject) -> bool:
    """Whether the rules report truncations, as `ForeignEnvironment.proceed` may."""
    env = subject.env.unwrapped
    params = arguments.default_params(env)

    def rules(key: Any, state: Any) -> Any:
        return env.transition(state, env.action_space(params).sample(key), env.draw(key, params), params)

    *_, info = jax.eval_shape(rules, subject.key, arguments.state_struct(env))
    return isinstance(info, dict) and "truncated" in info
