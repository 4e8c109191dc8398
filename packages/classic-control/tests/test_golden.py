"""Every recorded transition of gymnasium's classic control, repeated with our environments."""

from __future__ import annotations

import classic_lockstep as lockstep
import golden
import jax
import numpy as np
import pytest
from lockstep import ROUNDINGS, SPACING

RECORDINGS = {
    "classic.cartpole": lockstep.CARTPOLE,
    "classic.pendulum": lockstep.PENDULUM,
    "classic.acrobot": lockstep.ACROBOT,
    "classic.mountain_car": lockstep.MOUNTAIN_CAR,
    "classic.mountain_car_continuous": lockstep.MOUNTAIN_CAR_CONTINUOUS,
}
SEGMENTS = [
    pytest.param(RECORDINGS[name], segment, rows, id=f"{name.removeprefix('classic.')}: {segment.label}")
    for name in RECORDINGS
    for segment, rows in golden.load(name).segments()
]


@pytest.mark.parametrize(("task", "segment", "rows"), SEGMENTS)
def test_transitions_are_the_recorded_ones(
    task: lockstep.Task, segment: golden.Segment, rows: golden.Recording
) -> None:
    beyond = rows.columns.get("before.steps_beyond_terminated", np.full(len(rows), -1))
    inputs = lockstep.Inputs(
        rows["before.state"], rows["elapsed"], rows["action"], rows["draw.torque_noise"], has_fallen=beyond >= 0
    )
    expected = lockstep.Outputs(
        rows["after.state"], rows["obs"].astype(np.float64), rows["reward"], rows["terminated"], rows["truncated"]
    )
    env, params = task.make({**segment.kwargs, **segment.attributes})
    actual = lockstep.our_steps(task, env, params, inputs)
    undecided = lockstep.check_agreement(task, inputs, expected, actual, params)
    assert undecided <= 1
    assert len(rows) >= 100


@pytest.mark.parametrize("name", RECORDINGS)
def test_first_observations_show_the_recorded_states(name: str) -> None:
    task, recording = RECORDINGS[name], golden.load(name)
    env, params = task.make({})
    recorded = recording.group("reset")["state"]
    observe = jax.jit(jax.vmap(env.observe, (0, None)))
    obs = np.asarray(observe(task.from_original({"state": recorded}), jax.tree.map(np.float32, params)))
    size = task.size(recorded, recorded)[:, task.obs_fields]
    assert (np.abs(obs - recording.extras["reset_obs"]) <= ROUNDINGS * SPACING * size).all()
