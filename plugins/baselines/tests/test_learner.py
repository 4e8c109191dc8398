import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore_baselines.learner import ILLEGAL, each_agent, epsilon_greedy
from jax.core import Tracer


@pytest.mark.parametrize("num_agents", [1, 3])
def test_one_agent_is_not_mapped_and_has_the_axis_of_agents_as_several_have(num_agents):
    is_mapped = []

    def fun(key, state):
        is_mapped.append(isinstance(state["number"], Tracer))
        return key, {"sum": state["number"].sum(), "constant": np.float32(2), "weights": state["number"] + 1}

    keys = jax.random.split(jax.random.key(0), num_agents)
    state = {"number": jnp.arange(4.0 * num_agents).reshape(num_agents, 4)}
    found, expected = each_agent(fun)(keys, state), jax.vmap(fun)(keys, state)
    assert is_mapped == [num_agents > 1, True]
    np.testing.assert_array_equal(jax.random.key_data(found[0]), jax.random.key_data(expected[0]))
    jax.tree.map(lambda x, y: np.testing.assert_array_equal(x, y, strict=True), found[1], expected[1])


def test_actions_are_greedy_but_for_the_random_ones_and_legal():
    values = jnp.tile(jnp.array([0.5, -1.0, 0.5, ILLEGAL]), (8000, 1))
    shares = np.bincount(epsilon_greedy(values, 0.3, jax.random.key(0)), minlength=4) / 8000
    np.testing.assert_allclose(shares, [0.45, 0.1, 0.45, 0], atol=0.02)
    assert shares[3] == 0
