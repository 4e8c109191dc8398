"""Functions in the modules of environments."""

import envcore_gymnax as gymnax
import numpy as np

# pyright: reportAttributeAccessIssue=false, reportPrivateImportUsage=false


def test_randomized_cars():
    cars = np.array([[i + 1, 8 - i, 0, 1] for i in range(8)])
    speeds, directions = np.array([1, 2, 3, 4, 5, 1, 2, 3]), np.array([1, -1] * 4)
    randomize_cars = gymnax.environments.minatar.freeway.randomize_cars
    signed = [1, -2, 3, -4, 5, -1, 2, -3]
    started = [[0, i + 1, abs(speed), speed] for i, speed in enumerate(signed)]
    assert randomize_cars(speeds, directions, cars, True).tolist() == started
    moved = [[i + 1, 8 - i, abs(speed), speed] for i, speed in enumerate(signed)]
    assert randomize_cars(speeds, directions, cars, False).tolist() == moved
