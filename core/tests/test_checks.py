from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from envcore import checks
from envcore.errors import InvalidArgumentError


@pytest.mark.parametrize("value", [0, -1, True, 3.0, "3", np.arange(3), jnp.int32(3)])
def test_anything_else_is_not_one(value: Any) -> None:
    with pytest.raises(ValueError, match="num must be a positive integer, got"):
        checks.positive_integer("num", value)


def test_the_caller_chooses_the_error_and_the_bound() -> None:
    with pytest.raises(InvalidArgumentError, match="num must be a positive integer, got 0"):
        checks.positive_integer("num", 0, InvalidArgumentError)
    assert checks.positive_integer("num", 5_000, at_most=5_000) == 5_000
    with pytest.raises(ValueError, match="num must be at most 5,000, got 5001"):
        checks.positive_integer("num", 5_001, at_most=5_000)
