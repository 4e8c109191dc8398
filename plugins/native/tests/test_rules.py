import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.errors import InvalidArgumentError
from evaluated import by_c, evaluated
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from jax import lax

SIZE = 16
FLAGS = np.array([False, True, True, False] * 4)


ARITHMETIC = [lax.add, lax.sub, lax.mul, lax.div, lax.rem, lax.max, lax.min]
COMPARISONS = [lax.eq, lax.ne, lax.lt, lax.le, lax.gt, lax.ge]
WORDS = [lax.bitwise_and, lax.bitwise_or, lax.bitwise_xor]
SHIFTS = [lax.shift_left, lax.shift_right_logical, lax.shift_right_arithmetic]


def _of_integers(a, b):
    both = {f.__name__: f(a, b) for f in (*ARITHMETIC, *COMPARISONS, *WORDS, *SHIFTS)}
    signed = (lax.neg, lax.abs, lax.sign) if a.dtype.kind == "i" else ()
    one = {f.__name__: f(a) for f in (lax.bitwise_not, lax.population_count, *signed)}
    casts = {f"to_{name}": lax.convert_element_type(a, name) for name in ("int8", "uint8", "uint32", "float32", "bool")}
    return {**both, **one, **casts, "clamp": lax.clamp(a.dtype.type(3), a, b), "power": lax.integer_pow(a, 3)}


def _of_floats(a, b):
    both = {f.__name__: f(a, b) for f in (*ARITHMETIC, *COMPARISONS)}
    one = {f.__name__: f(a) for f in (lax.neg, lax.abs, lax.sign, lax.floor, lax.ceil, lax.is_finite, jnp.round)}
    casts = {f"to_{name}": lax.convert_element_type(a, name) for name in ("int8", "uint8", "int32", "uint32", "bool")}
    away = lax.round(a, lax.RoundingMethod.AWAY_FROM_ZERO)
    chosen = jnp.where(a < b, a, b)
    bits = lax.bitcast_convert_type(a, jnp.uint32)
    return {**both, **one, **casts, "away": away, "chosen": chosen, "bits": bits, "clamp": lax.clamp(b, a, b)}


def _of_flags(a, b):
    return {f.__name__: f(a, b) for f in (*WORDS, lax.eq, lax.ne, lax.max, lax.min)} | {
        "not": ~a,
        "to_int32": a.astype(jnp.int32),
        "to_float32": a.astype(jnp.float32),
        "to_one_or_zero": jnp.where(a, np.float32(1), np.float32(0)),
        "reductions": jnp.stack([a.all(), a.any(), jnp.bitwise_xor.reduce(a)]),
    }


@functools.cache
def _compiled(fun, dtype) -> Any:
    struct = jax.ShapeDtypeStruct((SIZE,), dtype)
    return evaluated(fun, struct, struct), jax.jit(fun)


def _check(fun, a, b):
    ours, theirs = (f(a, b) for f in _compiled(fun, a.dtype.name))
    for x, (name, y) in zip(ours, sorted(theirs.items()), strict=True):
        assert x.dtype == y.dtype, name
        np.testing.assert_array_equal(x, y, err_msg=f"{name}({a}, {b})")
        if x.dtype.kind == "f":
            number = ~np.isnan(x)
            np.testing.assert_array_equal(np.signbit(x)[number], np.signbit(y)[number], err_msg=f"{name}({a}, {b})")


def _integers(dtype):
    info = np.iinfo(dtype)
    edges = [0, 1, 2, 7, 8, 31, 32, 33, info.max, info.max - 1, *([-1, -7, info.min, -33] if info.min else [])]
    elements = st.one_of(st.sampled_from(edges), st.integers(int(info.min), int(info.max)))
    return arrays(dtype, SIZE, elements=elements)


@pytest.mark.parametrize("dtype", ["int32", "uint32", "uint8", "int8"])
def test_integers_are_computed_as_by_xla(dtype):
    @settings(max_examples=30, deadline=None)
    @given(_integers(dtype), _integers(dtype))
    def check(a, b):
        _check(_of_integers, a, b)

    check()


def test_floats_are_computed_as_by_xla():
    # XLA's own results for subnormal numbers depend on the device.
    numbers = st.floats(width=32, allow_subnormal=False)
    edges = st.sampled_from([0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, np.nan, np.inf, -np.inf, 3e9, -3e9, 255.5, -128.9])
    values = arrays(np.float32, SIZE, elements=st.one_of(edges, numbers.filter(lambda x: not 0 < abs(x) < 1e-18)))

    @settings(max_examples=60, deadline=None)
    @given(values, values)
    def check(a, b):
        _check(_of_floats, a, np.where(abs(b) > 1e18, np.sign(b), b).astype(np.float32))

    check()


def test_flags_are_computed_as_by_xla():
    _check(_of_flags, FLAGS, np.roll(FLAGS, 1))


FUNCTIONS = [
    lax.exp,
    lax.expm1,
    lax.log,
    lax.log1p,
    lax.sin,
    lax.cos,
    lax.tan,
    lax.tanh,
    lax.logistic,
    lax.sqrt,
    lax.rsqrt,
    lax.erf_inv,
    lambda x: lax.pow(abs(x), x),
    lambda x: lax.atan2(x, x + 1),
]


def test_functions_of_floats_are_close():
    x = np.array([0.0, 1e-9, -1e-9, 0.3, -0.3, 0.5, 0.9, -0.99, 0.999999, 1.0, 1.5, 2.0, 7.0, 30.0, np.nan, -0.6], "f4")
    ours = evaluated(lambda x: [fun(x) for fun in FUNCTIONS], x)(x)
    for fun, result in zip(FUNCTIONS, ours, strict=True):
        np.testing.assert_allclose(result, fun(x), rtol=3e-6, atol=1e-7)


def test_arrays_are_computed_as_by_xla():
    def fun(x, y):
        return [
            x.reshape(4, 5).T,
            jnp.broadcast_to(x, (3, 5, 4)),
            jnp.tile(x, (2, 3)),
            jnp.tile(x, (2, 1, 3)),
            x[::2, 1:3],
            lax.rev(x, (0, 1)),
            jnp.concatenate([x, y], axis=1),
            jnp.stack([x, y]),
            lax.pad(x, np.int32(-1), ((1, -1, 0), (0, 2, 0))),
            lax.select_n(x % 3, x, y, x + y),
            jnp.zeros((0, 3), jnp.int32).sum(axis=0) + x[0, :3],
            jnp.concatenate([x[:0], y]),
            *jnp.split(x, (1, 3), axis=1),
        ]

    x = np.arange(20, dtype=np.int32).reshape(5, 4) * 7 % 11
    y = x[::-1] + 3
    _check_arrays(fun, x, y)


def _check_arrays(fun, *args):
    for ours, theirs in zip(evaluated(fun, *args)(*args), jax.tree.leaves(jax.jit(fun)(*args)), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_integers_are_combined_as_by_xla():
    def fun(x):
        return [
            x.sum(axis=0),
            x.max(axis=1),
            x.min(),
            lax.reduce_and(x, (0,)),
            lax.reduce_xor(x, (1,)),
            jnp.prod(x, axis=1),
            jnp.argmax(x % 7, axis=1),
            jnp.argmin(x % 5, axis=0),
            lax.cumsum(x, axis=1, reverse=True),
            lax.cummax(x % 5, axis=0),
            x[:0].sum(axis=0),
            jnp.sort(x % 5, axis=0),
            jnp.argsort(x % 3, axis=1),
            lax.sort((x[0] % 2, x[1] % 3, x[2]), num_keys=2),
        ]

    _check_arrays(fun, np.arange(20, dtype=np.int32).reshape(5, 4) * 7 % 11)


def test_nan_is_sorted_last_and_is_the_best():
    x = np.array([2.0, np.nan, -0.0, np.inf, 0.0, -np.inf, np.nan, 1.0], np.float32)
    _check_arrays(lambda x: [jnp.sort(x), jnp.argsort(x), jnp.argmax(x), jnp.argmin(x), x.max(), x.min()], x)


def test_a_long_array_is_not_sorted():
    with pytest.raises(InvalidArgumentError, match=r"does not support sort of 65 elements at .*test_rules"):
        evaluated(lambda x: jnp.sort(x), np.zeros(65, np.float32))


PLACES = np.array([0, 3, -2, 9], np.int32)
TABLE = np.random.default_rng(0).integers(0, 100, 200).astype(np.int32)


def test_arrays_are_indexed_as_by_xla():
    def fun(x, i):
        return [
            lax.dynamic_slice(x, (i[1], i[2]), (2, 2)),
            lax.dynamic_update_slice(x, i.reshape(2, 2), (i[1], i[0])),
            x[i[1], i[2]],
            x[i],
            jnp.take(x, i, axis=1, mode="fill"),
            jnp.take_along_axis(x, jnp.stack([i] * 5) % 4, axis=1),
            x.at[i[1], i[2]].set(99),
            x.at[i].add(i[:, None]),
            x.at[i].subtract(i[:, None]),
            lax.dynamic_slice(x, tuple(i[:2].astype(jnp.uint32) - 1), (2, 2)),
            jnp.take(x, i.astype(jnp.uint32), axis=0, mode="clip"),
            x.at[i[1]].multiply(2),
            x.at[:, i[1]].max(7),
            x.at[1:3].set(i[0]),
            x.at[i, 1].min(5, mode="clip"),
            jax.vmap(lambda row, j: row.at[j].set(50))(x, jnp.arange(5) + i[0]),
            jnp.asarray(TABLE)[i * 60],
        ]

    x = np.arange(20, dtype=np.int32).reshape(5, 4)
    _check_arrays(fun, x, PLACES)


def test_tables_keep_every_number():
    tables = [(0.0, -0.0, 0.0, -0.0), (0.0, 0.0, 0.0, 1.0), (-0.0, 0.0, 0.0, 1.0), (1.0, np.inf, -np.inf, np.nan)]

    def fun(i):
        return [jnp.asarray(np.array(table * 20, np.float32))[i] for table in tables]

    places = np.arange(4, dtype=np.int32)
    for ours, theirs in zip(evaluated(fun, places)(places), fun(places), strict=True):
        np.testing.assert_array_equal(ours, theirs)
        np.testing.assert_array_equal(np.signbit(ours), np.signbit(theirs) & ~np.isnan(theirs))


@pytest.mark.parametrize(
    ("fun", "message"),
    [
        (lambda i: jnp.ones(3).at[i[0]].apply(jnp.sin), "does not support scatter of a function"),
        (lambda i: jax.random.bits(jax.random.split(jax.random.key(0), 4)[i[0]]), "of random keys"),
        (lambda i: jax.random.bits(jax.random.fold_in(jax.random.key(3, impl="rbg"), i[0])), "type threefry2x32, got"),
    ],
)
def test_what_would_be_wrong_is_refused(fun, message):
    with pytest.raises(InvalidArgumentError, match=message):
        evaluated(fun, PLACES)


def test_an_array_too_large_for_the_stack():
    structs = jax.ShapeDtypeStruct((2**21,), np.float32), jax.ShapeDtypeStruct((9,), np.int32)
    with pytest.raises(InvalidArgumentError, match="arrays of over 4,194,304 bytes"):
        by_c(lambda x, i: jnp.sin(x * 2 + 1)[i], structs, 3)
