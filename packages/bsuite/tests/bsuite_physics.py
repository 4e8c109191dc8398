"""How our bsuite environments with physics correspond to the original's: a `Task` each.

Rounding makes the two drift apart, so each step of a game starts from our state.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from bsuite_lockstep import Steps, Task
from bsuite_tasks import floats, ints, reader
from envcore_bsuite.cartpole import CartPoleState
from envcore_bsuite.cartpole_swingup import CartPoleSwingupState
from envcore_bsuite.mountain_car import MountainCarState
from lockstep import ROUNDINGS, SPACING, Calls, Fields

_STEP = 0.01  # seconds, of CartPole


# Physics.

_POLE = ("x", "x_dot", "theta", "theta_dot")


def _read_pole(*counters: str) -> Any:
    def read(original: Any) -> dict[str, Any]:
        return {**original._state._asdict(), **reader(*counters)(original)}

    return read


def _put_pole(original: Any, state: Any) -> None:
    original._state = original._state._replace(**{name: float(getattr(state, name)) for name in _POLE})


def _pole(state: Any) -> dict[str, Any]:
    return {
        **{name: getattr(state, name) for name in _POLE},
        "time_elapsed": _STEP * np.asarray(state.time, np.float64),
    }


def _steps(fields: Fields) -> jax.Array:
    return ints(np.rint(fields["time_elapsed"] / _STEP))[0]


def _cartpole(fields: Fields) -> CartPoleState:
    pole = floats(*(fields[name] for name in _POLE))
    returns = ints(*(fields[name] for name in ("episode_return", "raw_return", "best_episode")))
    return CartPoleState(*pole, *returns, time=_steps(fields))


def _pole_sizes(steps: Steps, params: Any) -> dict[str, np.ndarray]:
    before, after = (np.stack([fields[name] for name in _POLE], axis=-1) for fields in (steps.before, steps.after))
    # The last four are, within a factor of two, the most that velocities, push and gravity add in a step.
    x, x_dot, theta, theta_dot = np.maximum(np.maximum(np.abs(before), np.abs(after)), [0.1, 0.1, 0.1, 0.3]).T
    time = steps.after["time_elapsed"] / params.max_time
    limit = params.x_threshold
    flags = [np.zeros_like(x)] * (2 if "total_upright" in steps.after else 0)
    obs = np.stack([x / limit, x_dot / limit, 1 + theta, 1 + theta, theta_dot, time, *flags], axis=-1)[:, None]
    angle = after[:, 2]
    distances = [
        np.abs(np.abs(after[:, 0]) - limit) / x,
        np.abs(np.cos(angle) - params.height_threshold) / (1 + theta),
        np.minimum(angle, 2 * np.pi - angle) / theta,  # where it jumps
    ]
    if flags:
        distances.append(np.abs(np.abs(after[:, 0]) - params.x_reward_threshold) / x)
        distances.append(np.abs(np.abs(after[:, 3]) - params.theta_dot_threshold) / theta_dot)
    undecided = np.min(distances, axis=0) <= ROUNDINGS * SPACING
    return {**dict(zip(_POLE, (x, x_dot, theta, theta_dot), strict=True)), "obs": obs, "undecided": undecided}


def _pole_offsets(state: Any, angle: float) -> Calls:
    offsets = {name: float(getattr(state, name)) for name in _POLE}
    offsets["theta"] -= angle
    return [("uniform", value) for value in offsets.values()]


CARTPOLE = Task(
    _cartpole,
    lambda state: {
        **_pole(state),
        **{name: getattr(state, name) for name in ("episode_return", "raw_return", "best_episode")},
    },
    _read_pole("episode_return", "raw_return", "best_episode"),
    reset_calls=lambda state: _pole_offsets(state, 0.0),
    start=lambda draws: draws["init"],
    put=_put_pole,
    sizes=_pole_sizes,
)

_MOVE_COST = 0.1


def _swingup(fields: Fields) -> CartPoleSwingupState:
    # The recording has only the return of a running episode; any counts with this return will do.
    episode_upright = np.ceil(np.maximum(fields["episode_return"], 0))
    counts = ints(
        episode_upright,
        np.rint((episode_upright - fields["episode_return"]) / _MOVE_COST),
        fields["total_upright"],
        np.rint((fields["total_upright"] - fields["raw_return"]) / _MOVE_COST),
    )
    pole = floats(*(fields[name] for name in _POLE))
    return CartPoleSwingupState(*pole, *counts, *floats(fields["best_episode"]), time=_steps(fields))


def _from_swingup(state: CartPoleSwingupState) -> dict[str, Any]:
    def made(upright: Any, moves: Any) -> np.ndarray:
        return np.asarray(upright, np.float64) - _MOVE_COST * np.asarray(moves)

    return {
        **_pole(state),
        "episode_return": made(state.episode_upright, state.episode_moves),
        "raw_return": made(state.total_upright, state.total_moves),
        "total_upright": np.asarray(state.total_upright),
        "best_episode": state.best_episode,
    }


def _swingup_sizes(steps: Steps, params: Any) -> dict[str, np.ndarray]:
    # Rewards of 1 and costs, in absolute value.
    added = 2 * steps.after["total_upright"] - steps.after["raw_return"] + 1
    returns = ("raw_return", "best_episode", "episode_return", "info.raw_return", "info.best_episode")
    return {**_pole_sizes(steps, params), **dict.fromkeys(returns, added)}


CARTPOLE_SWINGUP = Task(
    _swingup,
    _from_swingup,
    _read_pole("episode_return", "raw_return", "total_upright", "best_episode"),
    reset_calls=lambda state: _pole_offsets(state, np.pi),
    start=lambda draws: draws["init"],
    put=_put_pole,
    sizes=_swingup_sizes,
)


def _mountain_car(fields: Fields) -> MountainCarState:
    numbers = *floats(fields["position"], fields["velocity"]), *ints(fields["raw_return"])
    return MountainCarState(*numbers, time=ints(fields["timestep"])[0])


def _car_sizes(steps: Steps, params: Any) -> dict[str, np.ndarray]:
    before, after = (
        np.stack([fields[n] for n in ("position", "velocity")], axis=-1) for fields in (steps.before, steps.after)
    )
    # The last two are, within a factor of three, the maximum speed and what push and gravity add to it.
    position, velocity = np.maximum(np.maximum(np.abs(before), np.abs(after)), [0.1, 0.01]).T
    borders = np.array([params.min_position, params.goal_position])
    distance = np.abs(after[:, :1] - borders).min(axis=1)
    obs = np.stack([position, velocity, np.ones_like(position)], axis=-1)[:, None]
    # A car that stands at the wall is there exactly.
    undecided = (distance / position <= ROUNDINGS * SPACING) & (distance > 0)
    return {"position": position, "velocity": velocity, "obs": obs, "undecided": undecided}


def _put_car(original: Any, state: MountainCarState) -> None:
    original._position, original._velocity = float(state.position), float(state.velocity)


MOUNTAIN_CAR = Task(
    _mountain_car,
    lambda state: {
        "timestep": state.time,
        **{name: getattr(state, name) for name in ("position", "velocity", "raw_return")},
    },
    reader("timestep", "position", "velocity", "raw_return"),
    reset_calls=lambda state: [("uniform", float(state.position))],
    start=lambda draws: draws["position"],
    put=_put_car,
    sizes=_car_sizes,
)
