"""Rules about whole episodes. They read recordings of random play."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from envcore import spaces
from envcore.engine import arguments
from envcore.errors import InvalidArgumentError

from envcore_testing.breaches import Breach, Place
from envcore_testing.subject import SHORT_LIMIT, Recording, Subject
from envcore_testing.trees import as_numpy, on_host, take, value_differences

_RULES = ("transition",)
_END = ("step", "restart")


def same_key_same_trace(subject: Subject) -> Iterator[Breach]:
    """The same key and params give the same episodes."""
    for problem in value_differences(subject.record(subject.params)._asdict(), subject.recording._asdict()):
        yield Breach(
            f"the same key gave two traces, {problem}: draw from nothing but the key.",
            subject.place("transition", "init_state"),
        )


def no_key_of_its_own(subject: Subject) -> Iterator[Breach]:
    """All randomness comes from the key: neither `reset` nor `step` makes a key from a seed."""
    env, state, action = subject.env, subject.types.reset[1], subject.types.action
    programs = {
        "reset": jax.make_jaxpr(env.reset)(subject.key, subject.params),
        "step": jax.make_jaxpr(env.step)(subject.key, state, action, subject.params),
    }
    for name, program in programs.items():
        if "random_seed" in str(program):
            yield Breach(
                f"{name} makes a key from its own seed: use the key that it is given.",
                subject.place(*({"reset": ("init_state",), "step": ("transition", "init_state")}[name])),
            )


def actions_in_space(subject: Subject) -> Iterator[Breach]:
    """Sampled actions are in the action space."""
    problem = "the sampled action is not in the action space: fix `sample`"
    yield from _everywhere(
        subject.recording.action_inside, subject.recording, problem, subject.place("action_space", "action_space")
    )


def observations_in_space(subject: Subject) -> Iterator[Breach]:
    """Every observation, including an episode's last, is in the observation space."""
    steps, env, params = subject.recording, subject.env, subject.params
    place = subject.place("observe", "observation_space", "observation_space")
    for breach in _everywhere(
        steps.obs_inside, steps, "the observation is not in its space: fix observe, or widen the space", place
    ):
        where = tuple(np.argwhere(~steps.obs_inside)[0])
        state, action = jax.tree.map(jnp.asarray, take((steps.state, steps.action), where))
        *_, info = env.step(subject.wrap_key(steps.key[where]), state, action, params)
        space = env.observation_space(params)
        seen = (env.observe(state, params), info["final_obs"])
        outside = next((on_host(obs) for obs in seen if not space.contains(obs)), None)
        with np.printoptions(threshold=8):
            yield (
                breach._replace(problem=f"{breach.problem} {outside} is not in {space!r}.")
                if outside is not None
                else breach
            )


def states_in_space(subject: Subject) -> Iterator[Breach]:
    """Every state, including an episode's last, is in the state space."""
    problem = "the state is not in its space: fix the rules, or widen the space"
    place = subject.place("state_space", "state_space", *_RULES)
    yield from _everywhere(subject.recording.state_inside, subject.recording, problem, place)


def finite_rewards(subject: Subject) -> Iterator[Breach]:
    """Every reward is a finite number."""
    steps = subject.recording
    yield from _everywhere(
        np.isfinite(steps.reward), steps, "the reward is not finite: fix transition", subject.place(*_RULES)
    )


def done_flag(subject: Subject) -> Iterator[Breach]:
    """`done` is `terminated | truncated`."""
    steps = subject.both_recordings
    problem = "done is not terminated | truncated: leave it to the base class"
    yield from _everywhere(steps.done == (steps.terminated | steps.truncated), steps, problem, subject.place(*_END))
    problem = "a step is truncated, although may_truncate(params) returns False"
    is_told = subject.env.may_truncate(subject.params)
    yield from _everywhere(is_told | ~subject.recording.truncated, subject.recording, problem, subject.place(*_END))


def discount(subject: Subject) -> Iterator[Breach]:
    """The discount is 0 on termination, and 1 on every other step, including truncated ones."""
    steps = subject.both_recordings
    problem = "the discount is not 1 - terminated: leave it to the base class"
    yield from _everywhere(steps.discount == 1 - steps.terminated, steps, problem, subject.place(*_END))


def observation_of_the_state(subject: Subject) -> Iterator[Breach]:
    """The observation that `step` returns is `observe` of the state that it returns."""
    parts = subject.both_dissections
    for problem in value_differences(parts.step[0], parts.obs):
        yield Breach(f"step's observation is not observe(state, params): {problem}.", subject.place("step", "observe"))


def final_observation(subject: Subject) -> Iterator[Breach]:
    """`info["final_obs"]` is the last observation of the episode, before the reset; elsewhere it is the observation."""
    parts, place = subject.both_dissections, subject.place("step", "observe")
    obs, *_, info = parts.step
    for problem in value_differences(info["final_obs"], parts.final_obs):
        yield Breach(f"info['final_obs'] is not the observation before the reset: {problem}.", place)
    for problem in value_differences(take(info["final_obs"], ~parts.ended), take(obs, ~parts.ended)):
        yield Breach(f"in the middle of an episode, info['final_obs'] is not the observation: {problem}.", place)


def action_mask(subject: Subject) -> Iterator[Breach]:
    """`info["action_mask"]` is `action_mask` of the state that `step` returns, and `sample_legal` takes it."""
    env, place = subject.env, subject.place("action_mask")
    struct = subject.types.step[-1]["action_mask"]
    space = env.action_space(subject.params)
    if isinstance(space, spaces.Discrete | spaces.MultiDiscrete):
        try:
            jax.eval_shape(space.sample_legal, subject.key, struct)
        except (InvalidArgumentError, TypeError) as error:
            yield Breach(str(error), place)
    if any(leaf.dtype != np.bool_ for leaf in jax.tree.leaves(struct)):
        yield Breach("the mask must be bool, True for legal actions.", place)
    steps = subject.short_recording
    for index in (tuple(np.argwhere(flags)[0]) for flags in (~steps.done, steps.done) if flags.any()):
        state, action = jax.tree.map(jnp.asarray, take((steps.state, steps.action), index[:2]))
        _, after, *_, info = env.step(
            subject.wrap_key(steps.key[index[:2]]), state, action, subject.limited(SHORT_LIMIT)
        )
        for problem in value_differences(info["action_mask"], env.action_mask(after, subject.params)):
            yield Breach(f"info['action_mask'] is not action_mask(state, params): {problem}.", place)


def has_no_mask(subject: Subject) -> str | None:
    return None if "action_mask" in subject.types.step[-1] else "all actions are always legal"


def new_episode(subject: Subject) -> Iterator[Breach]:
    """Where an episode ends, `step` returns the state that `restart` makes, with a time of 0."""
    parts, place = subject.both_dissections, subject.place(*_END)
    state, ended = parts.step[1], parts.ended
    problems = value_differences(take(state, ended), take(parts.fresh, ended))
    problems += value_differences({"time": state.time[ended]}, {"time": np.zeros(ended.sum(), np.int32)})
    for problem in problems:
        yield Breach(
            f"after done, the state is not that of restart with the key envcore.random.reset_key(key): {problem}. "
            "Put back in restart what has to survive a reset; the time must not.",
            place,
        )
    for problem in value_differences(take(state, ~ended), take(parts.outcome.state, ~ended)):
        yield Breach(
            f"in the middle of an episode, step changes the state as if the episode had ended: {problem}.", place
        )


def time_limit(subject: Subject) -> Iterator[Breach]:
    """An episode is cut at exactly `max_steps_in_episode`; earlier only by a library that truncates by itself."""
    for limit in (1, SHORT_LIMIT, int(subject.params.max_steps_in_episode)):
        problem = _beyond_limit(subject, limit)
        if problem is not None and _truncates_by_itself(subject):
            problem = _beyond_limit(subject, limit, earlier=True)
        if problem is not None:
            yield Breach(problem, subject.place("advance", "step", "transition"))


def step_env_without_reset(subject: Subject) -> Iterator[Breach]:
    """`step_env` returns the state before the reset, and otherwise what `step` returns."""
    parts = subject.both_dissections
    obs, state, reward, terminated, _ = parts.step_env
    _, _, step_reward, _, info = parts.step
    for problem in value_differences(
        {"obs": obs, "state": state, "reward": reward, "terminated": terminated},
        {
            "obs": parts.final_obs,
            "state": parts.outcome.state,
            "reward": step_reward,
            "terminated": info["terminated"],
        },
    ):
        yield Breach(f"step_env is not step without its reset: {problem}.", subject.place("step_env", "advance"))


def _everywhere(good: Any, steps: Recording, problem: str, place: Place | None) -> Iterator[Breach]:
    bad = np.argwhere(~np.asarray(good))
    if len(bad):
        trace, step = bad[0][:2]
        with np.printoptions(threshold=8):
            state = jax.tree.map(as_numpy, take(steps.state, (trace, step)))
            yield Breach(
                f"{problem}. It happened {len(bad)} times, first at step {step} of trace {trace}, in the state "
                f"{state}.",
                place,
            )


def _rows(flags: jax.Array) -> np.ndarray[Any, Any]:
    """Turns (environment, step, *batch) into (environment and batch, step)."""
    return np.moveaxis(np.asarray(flags), 1, -1).reshape(-1, flags.shape[1])


def _beyond_limit(subject: Subject, limit: int, *, earlier: bool = False) -> str | None:
    """What is wrong with the ends of episodes under the limit; with `earlier`, they may be truncated before it."""
    steps = subject.record(subject.limited(limit))
    terminates = subject.env.unwrapped.time_limit_terminates
    for terminated, truncated in zip(_rows(steps.terminated), _rows(steps.truncated), strict=True):
        length = 0
        for step, (is_end, is_cut) in enumerate(zip(terminated, truncated, strict=True)):
            length += 1
            at_limit = length == limit
            wrong = is_cut != (at_limit and not terminates) and not (is_cut and earlier)
            if wrong or (at_limit and terminates and not is_end):
                flags = f"terminated={bool(is_end)}, truncated={bool(is_cut)}"
                return (
                    f"with max_steps_in_episode={limit}, step {length} of an episode (trace step {step}) has {flags}: "
                    "leave state.time and the time limit to the base class."
                )
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
