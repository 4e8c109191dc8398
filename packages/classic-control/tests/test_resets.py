"""First states: uniform, within their bounds, and with independent fields; that keys are so is core's affair."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from classic_lockstep import ACROBOT, CARTPOLE, MOUNTAIN_CAR, MOUNTAIN_CAR_CONTINUOUS, PENDULUM, TASKS, Task
from scipy import stats

COUNT = 20_000
UNCORRELATED = 4 / np.sqrt(COUNT)  # four standard deviations of the correlation of independent numbers
# The bounds between which each field starts; None where it starts at 0.
BOUNDS: dict[Task, list[tuple[float, float] | None]] = {
    CARTPOLE: [(-0.05, 0.05)] * 4,
    PENDULUM: [(-np.pi, np.pi), (-1, 1)],
    ACROBOT: [(-0.1, 0.1)] * 4,
    MOUNTAIN_CAR: [(-0.6, -0.4), None],
    MOUNTAIN_CAR_CONTINUOUS: [(-0.6, -0.4), None],
}
OTHER_BOUNDS: dict[Task, tuple[dict[str, float], list[tuple[float, float] | None]]] = {
    CARTPOLE: ({"reset_low": -0.2, "reset_high": 0.1}, [(-0.2, 0.1)] * 4),
    PENDULUM: ({"x_init": 0.5, "y_init": 3.0}, [(-0.5, 0.5), (-3, 3)]),
    ACROBOT: ({"reset_low": 0.0, "reset_high": 1.0}, [(0, 1)] * 4),
    MOUNTAIN_CAR: ({"reset_low": -1.0, "reset_high": 0.0}, [(-1, 0), None]),
    MOUNTAIN_CAR_CONTINUOUS: ({"reset_low": -1.0, "reset_high": 0.0}, [(-1, 0), None]),
}


@pytest.mark.parametrize("task", TASKS, ids=str)
def test_fields_are_uniform_between_the_bounds_of_the_params_and_independent(task: Task) -> None:
    for options, bounds in (({}, BOUNDS[task]), OTHER_BOUNDS[task]):
        env, params = task.make(options)
        keys = jax.random.split(jax.random.key(0), COUNT)
        fields = task.to_original(jax.jit(jax.vmap(env.reset, (0, None)))(keys, params)[1])["state"]
        check_uniform(fields, bounds)
        drawn = fields[:, [each is not None for each in bounds]]
        correlations = np.corrcoef(drawn.T).reshape(drawn.shape[1], -1) - np.eye(drawn.shape[1])
        assert np.abs(correlations).max() < UNCORRELATED


def check_uniform(fields: np.ndarray, bounds: list[tuple[float, float] | None]) -> None:
    for field, limits in zip(fields.T, bounds, strict=True):
        if limits is None:
            assert (field == 0).all()
            continue
        low, high = limits
        assert np.float32(low) <= field.min() < field.max() <= np.float32(high)
        assert np.asarray(stats.kstest(field, "uniform", (low, high - low)))[1] > 0.001
