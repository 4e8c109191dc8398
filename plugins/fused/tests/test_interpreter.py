import jax
import jax.numpy as jnp
import numpy as np
import pytest
from compiled import compiled
from envcore_fused.interpreter import CannotLowerError, interpret
from envcore_fused.scalars import Graph
from envcore_fused.source import Leaf, start_kernel
from jax import lax

INTS = np.array([0, 1, -1, 7, -7, 33, 2**31 - 1, -(2**31)], np.int32)
WORDS = INTS.astype(np.uint32)
FLOATS = np.array([0.5, -0.5, 1.5, 2.5, -0.0, np.nan, np.inf, -3e9], np.float32)
PLACES = np.array([0, 3, -2, 9], np.int32)


def _lowered(fun, *args):
    """The results of `fun`, computed by generated code from arguments that it knows only at run time."""
    closed, graph = jax.make_jaxpr(fun)(*args), Graph()
    inputs, loads = [], []
    for number, value in enumerate(args):
        array = np.empty(value.shape, object)
        for place, index in enumerate(np.ndindex(value.shape)):
            array[index] = graph.input(f"state{number + 1}[{place}]", value.dtype)
        inputs.append(array)
        loads.append(Leaf(f"state{number + 1}", array))
    (result,) = interpret(graph, closed.jaxpr, closed.consts, inputs)
    leaf = Leaf("state0", graph.array(result))
    pointers = ", ".join(each.pointer for each in (leaf, *loads))
    text = start_kernel([], [leaf]).replace(leaf.pointer, pointers)
    out = np.zeros(leaf.values.shape, leaf.dtype)
    compiled(text)("start", np.zeros(1, np.uint32), 1, out, *map(np.ascontiguousarray, args))
    return out


def _pairs(values):
    return tuple(np.ravel(x) for x in np.meshgrid(values, values))


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "rem", "max", "min", "shift_left", "shift_right_logical"])
@pytest.mark.parametrize("values", [INTS, WORDS], ids=["int32", "uint32"])
def test_integers_are_computed_as_by_xla(name, values):
    pairs = _pairs(values)
    np.testing.assert_array_equal(_lowered(getattr(lax, name), *pairs), jax.jit(getattr(lax, name))(*pairs))


@pytest.mark.parametrize("name", ["shift_right_arithmetic", "bitwise_and", "bitwise_or", "bitwise_xor"])
def test_words_are_combined_as_by_xla(name):
    pairs = _pairs(INTS)
    np.testing.assert_array_equal(_lowered(getattr(lax, name), *pairs), jax.jit(getattr(lax, name))(*pairs))


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "max", "min", "eq", "ne", "lt", "le", "gt", "ge"])
def test_floats_are_computed_as_by_xla(name):
    pairs = _pairs(FLOATS)
    np.testing.assert_array_equal(_lowered(getattr(lax, name), *pairs), jax.jit(getattr(lax, name))(*pairs))


@pytest.mark.parametrize(
    "fun",
    [
        jnp.round,
        lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO),
        lax.floor,
        lax.ceil,
        lax.sign,
        lax.abs,
        lax.neg,
        lax.is_finite,
        lambda x: x.astype(jnp.int32),
        lambda x: x.astype(jnp.uint8),
        lambda x: x.astype(jnp.bool_),
        lambda x: lax.bitcast_convert_type(x, jnp.uint32),
        lambda x: x**3,
        lambda x: jnp.clip(x, -1.0, 2.0),
    ],
)
def test_functions_of_a_float_are_computed_as_by_xla(fun):
    np.testing.assert_array_equal(_lowered(fun, FLOATS), jax.jit(fun)(FLOATS))


@pytest.mark.parametrize(
    "fun",
    [
        lambda x, i: lax.dynamic_slice(x, (i[1], i[2]), (2, 2)),
        lambda x, i: lax.dynamic_update_slice(x, i.reshape(2, 2), (i[1], i[0])),
        lambda x, i: x[i[1], i[2]],
        lambda x, i: x[i],
        lambda x, i: jnp.take(x, i, axis=1, mode="fill"),
        lambda x, i: jnp.argmax(x * i[1] % 7, axis=1),
        lambda x, i: jnp.cumsum(x, axis=1)[::-1].T,
        lambda x, i: jnp.pad(x, ((1, 2), (0, 1))).sum(axis=0),
        lambda x, i: lax.cond(i[1] > 2, lambda: x, lambda: -x),
        lambda x, i: lax.scan(lambda total, row: (total + row, total * row), i, x)[1],
    ],
)
def test_arrays_are_computed_as_by_xla(fun):
    x = np.arange(20, dtype=np.int32).reshape(5, 4)
    np.testing.assert_array_equal(_lowered(fun, x, PLACES), jax.jit(fun)(x, PLACES))


def test_a_large_table_is_looked_up_in_memory():
    table = np.random.default_rng(0).integers(0, 100, 200).astype(np.int32)

    def fun(places):
        return jnp.asarray(table)[places * 60]

    np.testing.assert_array_equal(_lowered(fun, PLACES), jax.jit(fun)(PLACES))


def test_a_primitive_without_a_rule_is_named_with_its_line():
    with pytest.raises(CannotLowerError, match=r"no rule for sort at .*test_interpreter"):
        _lowered(lambda x: lax.sort(x), INTS)
