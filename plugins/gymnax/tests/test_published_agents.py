"""The agents that gymnax-blines publishes, trained in gymnax in 2022, play envcore as well as they played gymnax.

Their files are not in this repository. To run it, name a clone of https://github.com/RobertTLange/gymnax-blines:

    ENVCORE_GYMNAX_BLINES=~/gymnax-blines uv run pytest -n0 plugins/gymnax/tests/test_published_agents.py
"""

import functools
import os
import pickle
from pathlib import Path

import envcore_gymnax as gymnax
import jax
import jax.numpy as jnp
import numpy as np
import pytest

# pyright: reportAttributeAccessIssue=false, reportArgumentType=false

AGENTS = Path(os.environ.get("ENVCORE_GYMNAX_BLINES", ""), "agents")
EPISODES = 256

pytestmark = pytest.mark.skipif(
    "ENVCORE_GYMNAX_BLINES" not in os.environ, reason="ENVCORE_GYMNAX_BLINES does not name a clone of gymnax-blines"
)

AGENTS_OF = {
    **dict.fromkeys(("CartPole-v1", "Acrobot-v1", "Pendulum-v1"), ("ppo", "es")),
    **dict.fromkeys(("MountainCar-v0", "MountainCarContinuous-v0"), ("ppo", "es")),
    **dict.fromkeys(("Asterix-MinAtar", "Freeway-MinAtar"), ("ppo",)),
    **dict.fromkeys(("Breakout-MinAtar", "Catch-bsuite", "DeepSea-bsuite"), ("ppo", "es")),
    **dict.fromkeys(("MemoryChain-bsuite", "UmbrellaChain-bsuite", "DiscountingChain-bsuite"), ("ppo", "es")),
    "FourRooms-misc": ("ppo", "es"),
    **dict.fromkeys(("MetaMaze-misc", "PointRobot-misc", "BernoulliBandit-misc", "GaussianBandit-misc"), ("es",)),
}
OPTIONS = {
    "DeepSea-bsuite": {"randomize_actions": False},  # as in gymnax in 2022
    "FourRooms-misc": {"use_visual_obs": True},
    "MetaMaze-misc": {"maze_size": 7, "rf_size": 5},
}
PARAMS = {"FourRooms-misc/ppo": {"resample_init_pos": True}}
"""Those of the evaluations that were logged. They ignored what the files say of the params of an `es` agent."""


@pytest.mark.parametrize("agent", [f"{env_id}/{agent}" for env_id, agents in AGENTS_OF.items() for agent in agents])
def test_reaches_its_logged_return(agent):
    env_id = agent.partition("/")[0]
    env, params = gymnax.make(env_id, **OPTIONS.get(env_id, {}))
    weights, logged = load(agent)
    assert_reached(returns(env, params.replace(**PARAMS.get(agent, {})), weights, env.reset, env.step), logged)


def load(agent):
    """The weights of an agent, and its last returns, each a mean of 164 episodes."""
    with (AGENTS / f"{agent}.pkl").open("rb") as file:
        saved = _Unpickler(file).load()
    network = saved["network"]
    weights = getattr(network, "_dict", network)["params"]
    return weights, np.array(saved["log_return"][-5:], float)


def returns(env, params, weights, reset, step):
    """The returns of episodes of an agent that samples its actions, as its authors evaluated it."""
    space = env.action_space(params)

    def play(key):
        key_reset, key = jax.random.split(key)
        obs, state = reset(key_reset, params)

        def body(carry, key):
            obs, state, memory, total, runs = carry
            key_action, key_step = jax.random.split(key)
            memory, action = act(weights, space, memory, obs, key_action)
            obs, state, reward, done, _ = step(key_step, state, action, params)
            return (obs, state, memory, total + jnp.where(runs, reward, jnp.float32(0)), runs & ~done), None

        memory = (jnp.zeros(weights["Dense_0"]["kernel"].shape[0]),) * 2 if "LSTMCell_0" in weights else ()
        first = obs, state, memory, jnp.float32(0), jnp.array(True)
        return jax.lax.scan(body, first, jax.random.split(key, int(params.max_steps_in_episode)))[0][3]

    return jax.jit(jax.vmap(play))(jax.random.split(jax.random.key(0), EPISODES))


def act(weights, space, memory, obs, key):
    """The memory of an LSTM and an action, from weights whose names tell the network."""
    x = obs.reshape(-1).astype(jnp.float32)
    layers = sorted(name for name in weights if name.startswith("Dense_"))
    is_gaussian = not hasattr(space, "n")
    if "LSTMCell_0" in weights:
        memory, x = _lstm(weights["LSTMCell_0"], memory, x)
        out = _dense(weights["Dense_0"], x)
        return memory, out if is_gaussian else jax.random.categorical(key, out)
    if "actor_fc_1" in weights:
        for name in ("actor_fc_1", "actor_fc_2"):
            x = jax.nn.relu(_dense(weights[name], x))
        mean, deviation = (
            _dense(weights["actor_fc_mu"], x),
            jax.nn.softplus(_dense(weights["actor_fc_scale"], x)) + 1e-3,
        )
        return memory, mean + deviation * jax.random.normal(key, mean.shape)
    hidden, heads = (layers[:-2], layers[-2:]) if is_gaussian else (layers[:-1], layers[-1:])
    for name in hidden:
        x = jax.nn.relu(_dense(weights[name], x))
    out = [_dense(weights[name], x) for name in heads]
    if not is_gaussian:
        return memory, jax.random.categorical(key, out[0])
    return memory, out[0] + jnp.exp(out[1] / 2) * jax.random.normal(key, out[0].shape)


def assert_reached(returns, logged):
    """The mean is at least the lowest of the last five logged means, but for three standard errors of such a mean.

    Five, because the weights were saved some updates after the last of them.
    """
    print(f"{np.mean(returns):.2f}, logged {logged[-1]:.2f}")
    assert np.mean(returns) >= logged.min() - 3 * np.std(returns) / 164**0.5 - 1e-4


def _dense(layer, x):
    return x @ layer["kernel"] + layer["bias"]


def _lstm(cell, memory, x):
    carry, hidden = memory
    gates = [x @ cell[f"i{gate}"]["kernel"] + _dense(cell[f"h{gate}"], hidden) for gate in "ifgo"]
    enter, keep, leave = map(jax.nn.sigmoid, (gates[0], gates[1], gates[3]))
    carry = keep * carry + enter * jnp.tanh(gates[2])
    hidden = leave * jnp.tanh(carry)
    return (carry, hidden), hidden


class _Mapping(dict):
    """Stands for the mappings of other packages in the files."""

    def __setstate__(self, state):
        vars(self).update(state)


class _Unpickler(pickle.Unpickler):
    """Makes arrays and mappings only."""

    def find_class(self, module, name):
        match module.partition(".")[0], name:
            case "numpy", "ndarray" | "dtype":
                return getattr(np, name)
            case "numpy", "_reconstruct":
                return functools.partial(np.ndarray.__new__)
            case ("collections", "OrderedDict") | ("dotmap", "DotMap") | ("flax", "FrozenDict"):
                return _Mapping
            case _:
                raise pickle.UnpicklingError(f"{module}.{name} is not expected in an agent's file")
