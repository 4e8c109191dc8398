"""Checks of plain Python values: of the options that fix a shape or the program, of counts; and of networks."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from envcore.errors import one_line

_FLOAT32 = np.finfo(np.float32)


def positive_integer(
    name: str, value: Any, error: Callable[[str], Exception] = ValueError, *, at_most: int | None = None
) -> int:
    """Returns the value as an int.

    Args:
      name: its name in the error message.
      value: any object.
      error: of what is raised if the value is not a positive integer or too large: its class, or what makes it.
      at_most: the largest allowed value; None for no limit.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise error(f"{name} must be a positive integer, got {value!r}")
    if at_most is not None and value > at_most:
        raise error(f"{name} must be at most {at_most:,}, got {value!r}")
    return int(value)


def check_size(name: str, value: Any, at_most: int = 2**24) -> None:
    """Raises `ValueError` if an option, which sets how large arrays are, is above `at_most`."""
    if value > at_most:
        raise ValueError(f"{name} must be at most {at_most:,}, got {value!r}")


def finite_number(name: str, value: Any) -> float:
    """Returns the value as a float.

    Raises:
      ValueError: it is not a Python or numpy number, or not finite in float32. JAX arrays cannot be hashed.
    """
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    try:
        number = float(value) if is_number else np.nan
    except OverflowError:  # an integer of hundreds of digits, which the message does not repeat
        raise ValueError(f"{name} must be a finite Python or numpy number, got one beyond float64") from None
    if not abs(number) <= float(_FLOAT32.max):
        raise ValueError(f"{name} must be a finite Python or numpy number, got {value!r}")
    return number


def positive_number(name: str, value: Any) -> float:
    """Returns the value as a float, and raises `ValueError` unless it is finite and above 0, in float32 too."""
    if finite_number(name, value) < float(_FLOAT32.tiny):
        raise ValueError(f"{name} must be a positive number, got {value!r}")
    return float(value)


def flag(name: str, value: object) -> bool:
    """Returns the value as a bool, and raises `ValueError` if it is not one."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def network(network: Any, obs: Any, results: Mapping[str, tuple[int, ...]]) -> Any:
    """Returns a network, which is traced: with weights as one observation gives them, for two observations and for one.

    Args:
      network: with the functions `init(key, obs)`, which returns weights, and `apply(weights, obs)`; or a class of such
        objects, which takes the number of outputs.
      obs: an observation, or its `jax.ShapeDtypeStruct`.
      results: the shapes of what it returns for an observation, float32, by their names; the first one, of length 1, is
        the number of outputs.

    Raises:
      ValueError: it fails, has no weights or some that are not floats, or returns something else.
    """
    import jax
    import jax.numpy as jnp

    described = [f"{name} float32 {('n', *shape)}".replace("'", "") for name, shape in results.items()]
    expected = f"the network must map observations to {' and '.join(described)}"
    one, two = (jax.ShapeDtypeStruct((number, *obs.shape), obs.dtype) for number in (1, 2))
    try:
        made = network(*next(iter(results.values()))) if isinstance(network, type) else network
        weights = jax.eval_shape(made.init, jax.eval_shape(lambda: jax.random.key(0)), one)
        returned = [jax.eval_shape(made.apply, weights, batch) for batch in (two, one)]  # acting takes one
    except Exception as error:
        raise ValueError(f"{expected}, but it fails: {one_line(error)}") from error
    for number, each in zip((2, 1), returned, strict=True):
        found = jax.tree.map(lambda x: (x.shape, x.dtype.name), each)
        wanted = [((number, *shape), "float32") for shape in results.values()]
        if found != (wanted[0] if len(wanted) == 1 else tuple(wanted)):
            raise ValueError(f"{expected}, got {found} for n = {number}.")
    if not jax.tree.leaves(weights):
        raise ValueError("the network has no weights, so it cannot learn.")
    for leaf in jax.tree.leaves(weights):
        if not jnp.issubdtype(leaf.dtype, jnp.floating):
            raise ValueError(f"the weights of the network must be floats, which learn, got {leaf.dtype.name}.")
    return made
