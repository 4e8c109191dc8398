"""Rules about whole episodes. They read recordings of random play."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from envcore.errors import ConformanceError
from envcore.testing.compare import as_numpy, take, value_difference
from envcore.testing.subject import SHORT_LIMIT, Recording, Subject


def same_key_same_trace(subject: Subject) -> None:
    """The same key and params give the same episodes."""
    problem = value_difference(subject.record(subject.params)._asdict(), subject.recording._asdict())
    if problem is not None:
        raise ConformanceError(f"the same key gave two traces, {problem}: draw from the key, and from nothing else.")


def no_key_of_its_own(subject: Subject) -> None:
    """All randomness comes from the key: neither `reset` nor `step` makes a key from a seed."""
    env, state, action = subject.env, subject.types.reset[1], subject.types.action
    programs = {
        "reset": jax.make_jaxpr(env.reset)(subject.key, subject.params),
        "step": jax.make_jaxpr(env.step)(subject.key, state, action, subject.params),
    }
    for name, program in programs.items():
        if "random_seed" in str(program):
            raise ConformanceError(f"{name} makes a key from a seed of its own: use the key that it is given.")


def actions_in_space(subject: Subject) -> None:
    """Sampled actions are in the action space."""
    steps = subject.recording
    _require_everywhere(steps.action_inside, steps, "the sampled action is not in the action space: mend its sample")


def observations_in_space(subject: Subject) -> None:
    """Every observation, also an episode's last, is in the observation space."""
    steps = subject.recording
    _require_everywhere(
        steps.obs_inside, steps, "the observation is not in its space: mend observe, or widen the space"
    )


def states_in_space(subject: Subject) -> None:
    """Every state, also an episode's last, is in the state space."""
    steps = subject.recording
    _require_everywhere(steps.state_inside, steps, "the state is not in its space: mend the rules, or widen the space")


def finite_rewards(subject: Subject) -> None:
    """Every reward is a finite number."""
    steps = subject.recording
    _require_everywhere(np.isfinite(steps.reward), steps, "the reward is not finite: mend transition")


def done_flag(subject: Subject) -> None:
    """`done` is `terminated | truncated`."""
    for steps in (subject.recording, subject.short_recording):
        same = np.asarray(steps.done) == (np.asarray(steps.terminated) | np.asarray(steps.truncated))
        _require_everywhere(same, steps, "done is not terminated | truncated: leave it to the base class")


def discount(subject: Subject) -> None:
    """The discount is 0 on termination, and 1 on every other step, truncated ones too."""
    for steps in (subject.recording, subject.short_recording):
        same = np.asarray(steps.discount) == 1 - np.asarray(steps.terminated)
        _require_everywhere(same, steps, "the discount is not 1 - terminated: leave it to the base class")


def observation_of_the_state(subject: Subject) -> None:
    """The observation that `step` returns is `get_obs` of the state that it returns."""
    for _, parts in subject.dissections:
        problem = value_difference(parts.step[0], parts.obs)
        if problem is not None:
            raise ConformanceError(f"step's observation is not get_obs(state, params): {problem}.")


def final_observation(subject: Subject) -> None:
    """`info["final_obs"]` shows the end of the episode, before the reset; elsewhere it is the observation."""
    for _, parts in subject.dissections:
        obs, *_, info = parts.step
        problem = value_difference(info["final_obs"], parts.final_obs)
        if problem is not None:
            raise ConformanceError(f"info['final_obs'] is not the observation before the reset: {problem}.")
        problem = value_difference(take(info["final_obs"], ~parts.ended), take(obs, ~parts.ended))
        if problem is not None:
            raise ConformanceError(f"in the midst of an episode info['final_obs'] is not the observation: {problem}.")


def new_episode(subject: Subject) -> None:
    """Where an episode ends, `step` returns the state of a `reset`, but for what `carry_over` keeps."""
    for _, parts in subject.dissections:
        state, ended = parts.step[1], parts.ended
        problem = value_difference(take(state, ended), take(parts.fresh, ended))
        if problem is None:
            problem = value_difference({"time": state.time[ended]}, {"time": np.zeros(ended.sum(), np.int32)})
        if problem is not None:
            raise ConformanceError(
                f"after done, the state is not that of reset(envcore.random.reset_key(key), params): {problem}. "
                "What is to survive a reset belongs into carry_over, and the time does not."
            )
        problem = value_difference(take(state, ~ended), take(parts.outcome.state, ~ended))
        if problem is not None:
            raise ConformanceError(f"in the midst of an episode step changes the state, as after an end: {problem}.")


def time_limit(subject: Subject) -> None:
    """An episode that does not end before is cut at exactly `max_steps_in_episode`, whatever that is."""
    terminates = subject.env.unwrapped.time_limit_terminates
    for limit in (1, SHORT_LIMIT, int(subject.params.max_steps_in_episode)):
        steps = subject.record(subject.limited(limit))
        for terminated, truncated in zip(_rows(steps.terminated), _rows(steps.truncated), strict=True):
            _check_limit(terminated, truncated, limit, terminates, first_only=subject.is_wrapped)


def step_env_without_reset(subject: Subject) -> None:
    """`step_env` returns the state before the reset, and otherwise what `step` returns."""
    for _, parts in subject.dissections:
        obs, state, reward, terminated, _ = parts.step_env
        _, _, step_reward, _, info = parts.step
        problem = value_difference(
            {"obs": obs, "state": state, "reward": reward, "terminated": terminated},
            {
                "obs": parts.final_obs,
                "state": parts.outcome.state,
                "reward": step_reward,
                "terminated": info["terminated"],
            },
        )
        if problem is not None:
            raise ConformanceError(f"step_env is not step without its reset: {problem}.")


def _require_everywhere(good: Any, steps: Recording, problem: str) -> None:
    bad = np.argwhere(~np.asarray(good))
    if len(bad):
        trace, step = bad[0][:2]
        with np.printoptions(threshold=8):
            state = jax.tree.map(as_numpy, take(steps.state, (trace, step)))
            raise ConformanceError(
                f"{problem}. It happened {len(bad)} times, first at step {step} of trace {trace}, in the state {state}."
            )


def _rows(flags: jax.Array) -> np.ndarray[Any, Any]:
    """Turns (environment, step, *batch) into (environment and batch, step)."""
    return np.moveaxis(np.asarray(flags), 1, -1).reshape(-1, flags.shape[1])


def _check_limit(
    terminated: np.ndarray[Any, Any], truncated: np.ndarray[Any, Any], limit: int, terminates: bool, first_only: bool
) -> None:
    length = 0
    for step, (is_end, is_cut) in enumerate(zip(terminated, truncated, strict=True)):
        length += 1
        at_limit = length == limit
        if is_cut != (at_limit and not terminates) or (at_limit and terminates and not is_end):
            flags = f"terminated={bool(is_end)}, truncated={bool(is_cut)}"
            raise ConformanceError(
                f"with max_steps_in_episode={limit}, step {length} of an episode (trace step {step}) has {flags}: "
                "leave state.time and the time limit to the base class."
            )
        if is_end or is_cut:
            if first_only:
                return
            length = 0
