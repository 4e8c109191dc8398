"""What every adapter does with what users pass."""

import envcore
import jax
import numpy as np
import pytest
from envcore.errors import InvalidArgumentError, InvalidParamsError, UnknownEnvironmentError
from envcore.wrappers import Batched
from envcore_adapters.inputs import chosen, optional_seed, single
from envcore_native.xla import on_device


def test_an_id_with_params_and_options():
    env, params = single("DeepSea-bsuite", {"max_steps_in_episode": 3}, {"size": 4}, "")
    assert env == envcore.make("DeepSea-bsuite", size=4)[0]
    assert params.max_steps_in_episode == 3


def test_params_on_the_host_and_on_the_device():
    env, defaults = envcore.make("CartPole-v1")
    for given in (None, env.default_params.replace(gravity=3.0), {"gravity": 3.0}, defaults.replace(gravity=3.0)):
        found, params = chosen(env, given, {})
        assert found is env
        if given is not None and isinstance(params.length, jax.Array):
            assert params.length is defaults.length  # where the user has put it
        else:
            assert all(isinstance(leaf, np.ndarray) for leaf in jax.tree.leaves(params))
        for each in (params, on_device(params)):
            assert each.gravity == np.float32(9.8 if given is None else 3.0)
        assert all(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(on_device(params)))


@pytest.mark.parametrize(
    ("env", "params", "error", "message"),
    [
        (Batched(envcore.make("CartPole-v1")[0], 2), None, InvalidArgumentError, "a batch of .*: take one"),
        ("CartPol-v1", None, UnknownEnvironmentError, "CartPole-v1"),
        ("CartPole-v1", {"g": 1}, InvalidParamsError, "no param 'g'; its params: "),
        ("CartPole-v1", {"max_steps_in_episode": 0}, InvalidParamsError, "at least 1, or .* got 0"),
        (3, None, InvalidArgumentError, "must be an envcore environment or an id"),
    ],
)
def test_what_is_refused(env, params, error, message):
    with pytest.raises(error, match=message):
        single(env, params, {}, "take one")


def test_optional_seeds_have_any_number_of_bits():
    assert [optional_seed(seed) for seed in (None, 0, np.int64(3), 2**64)] == [None, 0, 3, 2**64]
    for seed in (-1, 1.5, True):
        with pytest.raises(InvalidArgumentError, match=r"^seed must be a non-negative integer or None, got .*\.$"):
            optional_seed(seed)
