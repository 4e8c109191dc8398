"""Programs that are written for gymnax run unchanged, with `import gymnax` finding envcore-gymnax.

They are real ones from the package index (rejax, evosax, EvoJAX), and a training loop as PureJaxRL writes them.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false, reportArgumentType=false
import envcore_gymnax

envcore_gymnax.install()

import distrax  # noqa: E402
import flax.linen as nn  # noqa: E402
import gymnax  # noqa: E402
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import optax  # noqa: E402
import pytest  # noqa: E402
import rejax  # noqa: E402
from evojax import Trainer  # noqa: E402
from evojax.algo import PGPE  # noqa: E402
from evojax.policy import MLPPolicy  # noqa: E402
from evosax.algorithms import CMA_ES  # noqa: E402
from evosax.problems import GymnaxProblem  # noqa: E402
from flax.training.train_state import TrainState  # noqa: E402
from gymnax.environments import spaces  # noqa: E402
from gymnax.wrappers.evojax import GymnaxToEvoJaxTask  # noqa: E402
from gymnax.wrappers.purerl import FlattenObservationWrapper, GymnaxWrapper, LogWrapper  # noqa: E402

pytestmark = pytest.mark.client


@pytest.fixture(autouse=True)
def promotion_of_users():
    """These programs promote dtypes as JAX does by default; the tests' JAX is strict."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


def test_gymnax_is_envcore_gymnax():
    assert gymnax is envcore_gymnax


def test_rejaxs_ppo_solves_cartpole():
    settings = {"num_envs": 16, "num_steps": 64, "num_epochs": 8, "num_minibatches": 8, "learning_rate": 1e-3}
    settings |= {"total_timesteps": 262_144, "eval_freq": 262_144, "gamma": 0.98, "gae_lambda": 0.9}
    train = jax.jit(rejax.PPO.create(env="CartPole-v1", **settings).train)
    # Which of these seeds learn it depends on how a processor rounds.
    assert any(train(jax.random.PRNGKey(seed))[1][1][-1].mean() >= 475 for seed in range(4))


@pytest.mark.parametrize(
    ("name", "env_id"),
    [
        ("ppo", "Pendulum-v1"),
        ("sac", "Pendulum-v1"),
        ("td3", "Pendulum-v1"),
        ("sac", "Catch-bsuite"),
        ("dqn", "Catch-bsuite"),
        ("iqn", "DeepSea-bsuite"),
        ("pqn", "Asterix-MinAtar"),
        ("ppo", "Breakout-MinAtar"),
    ],
)
def test_rejaxs_other_algorithms_run(name, env_id):
    steps, memory = (2048, {}) if name in ("ppo", "pqn") else (256, {"fill_buffer": 100})
    algorithm = rejax.get_algo(name).create(env=env_id, total_timesteps=steps, eval_freq=steps, **memory)
    _, (_, returns) = jax.jit(algorithm.train)(jax.random.PRNGKey(0))
    assert np.isfinite(returns).all()


def test_evojaxs_trainer(monkeypatch, tmp_path):
    monkeypatch.setattr(jax, "tree_map", jax.tree.map, raising=False)  # EvoJAX calls it, JAX has removed it
    settings = {
        "policy": MLPPolicy(3, [16], 1),
        "max_iter": 4,
        "log_interval": 4,
        "test_interval": 4,
        "log_dir": str(tmp_path),
    }
    train, test = GymnaxToEvoJaxTask("Pendulum-v1", 50), GymnaxToEvoJaxTask("Pendulum-v1", 50, test=True)
    solver = PGPE(param_size=settings["policy"].num_params, pop_size=8, optimizer="adam")
    trainer = Trainer(solver=solver, train_task=train, test_task=test, n_repeats=2, n_evaluations=4, **settings)
    assert -1000 < trainer.run() < 0


class Linear(nn.Module):
    """A policy for evosax: `(obs, key) -> action`."""

    @nn.compact
    def __call__(self, obs: Any, key: Any) -> Any:
        return nn.Dense(2)(obs).argmax(-1)


def test_evosaxs_problem():
    problem = GymnaxProblem("CartPole-v1", Linear(), episode_length=200, num_rollouts=4)
    key = jax.random.key(0)
    state = problem.init(key)
    solution = problem.sample(key)
    search = CMA_ES(population_size=16, solution=solution)
    params = search.default_params
    search_state = search.init(key, solution, params)
    best = 0.0
    for generation in range(15):
        keys = jax.random.split(jax.random.fold_in(key, generation), 3)
        population, search_state = search.ask(keys[0], search_state, params)
        fitness, state, _ = problem.eval(keys[1], population, state)
        search_state, _ = search.tell(keys[2], population, -fitness, search_state, params)
        best = max(best, float(fitness.max()))
    assert best >= 190


class Agent(nn.Module):
    """Policy and value of the training loop."""

    num_actions: int

    @nn.compact
    def __call__(self, x: jax.Array) -> tuple[Any, jax.Array]:
        dense = functools.partial(nn.Dense, 64)
        policy, value = nn.tanh(dense()(x)), nn.tanh(dense()(x))
        policy, value = nn.tanh(dense()(policy)), nn.tanh(dense()(value))
        logits = nn.Dense(self.num_actions, kernel_init=nn.initializers.zeros)(policy)
        return distrax.Categorical(logits=logits), nn.Dense(1)(value).squeeze(-1)


class Step(NamedTuple):
    done: jax.Array
    action: jax.Array
    value: jax.Array
    reward: jax.Array
    log_prob: jax.Array
    obs: jax.Array
    info: dict[str, jax.Array]


class Flatten(GymnaxWrapper):
    """Flattens observations, and describes them by a Box with the bounds of the one before, as PureJaxRL's does."""

    def observation_space(self, params: Any) -> spaces.Box:
        box = self._env.observation_space(params)
        return spaces.Box(low=box.low, high=box.high, shape=(np.prod(box.shape),), dtype=box.dtype)

    def reset(self, key: jax.Array, params: Any = None) -> Any:
        obs, state = self._env.reset(key, params)
        return obs.reshape(-1), state

    def step(self, key: jax.Array, state: Any, action: Any, params: Any = None) -> Any:
        obs, *rest = self._env.step(key, state, action, params)
        return obs.reshape(-1), *rest


@pytest.mark.parametrize(
    ("env_id", "flatten", "num_updates", "before", "after"),
    [
        ("CartPole-v1", FlattenObservationWrapper, 80, 60, 400),
        ("Catch-bsuite", Flatten, 40, 0, 0.5),
        ("Breakout-MinAtar", Flatten, 80, 1, 2),
    ],
)
def test_a_training_loop_like_purejaxrls(env_id, flatten, num_updates, before, after):
    """PPO in one compiled program, which uses gymnax as PureJaxRL does: wrappers, vmap over keys, entries of info."""
    env, env_params = gymnax.make(env_id)
    env = LogWrapper(flatten(env))
    assert isinstance(env.action_space(env_params), spaces.Discrete)
    agent = Agent(env.action_space(env_params).n)
    num_envs, num_steps = 16, 128

    def loss(params, batch, advantage, target):
        policy, value = agent.apply(params, batch.obs)
        ratio = jnp.exp(policy.log_prob(batch.action) - batch.log_prob)
        gain = jnp.minimum(ratio * advantage, jnp.clip(ratio, 0.8, 1.2) * advantage)
        return -gain.mean() + 0.5 * ((value - target) ** 2).mean() - 0.01 * policy.entropy().mean()

    def env_step(carry, _):
        train_state, env_state, obs, rng = carry
        rng, rng_act, rng_step = jax.random.split(rng, 3)
        policy, value = agent.apply(train_state.params, obs)
        action = policy.sample(seed=rng_act)
        rngs = jax.random.split(rng_step, num_envs)
        after, env_state, reward, done, info = jax.vmap(env.step, (0, 0, 0, None))(rngs, env_state, action, env_params)
        step = Step(done, action, value, reward, policy.log_prob(action), obs, info)
        return (train_state, env_state, after, rng), step

    def advantages(steps, last_value):
        def body(carry, step):
            advantage, next_value = carry
            delta = step.reward + 0.99 * next_value * (1 - step.done) - step.value
            advantage = delta + 0.99 * 0.95 * (1 - step.done) * advantage
            return (advantage, step.value), advantage

        return jax.lax.scan(body, (jnp.zeros_like(last_value), last_value), steps, reverse=True)[1]

    def minibatch(train_state, batch):
        return train_state.apply_gradients(grads=jax.grad(loss)(train_state.params, *batch)), None

    def epoch(carry, _):
        train_state, batch, rng = carry
        rng, rng_shuffle = jax.random.split(rng)
        order = jax.random.permutation(rng_shuffle, num_envs * num_steps)
        parts = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:])[order].reshape(8, -1, *x.shape[2:]), batch)
        return (jax.lax.scan(minibatch, train_state, parts)[0], batch, rng), None

    def update(carry, _):
        (train_state, env_state, obs, rng), steps = jax.lax.scan(env_step, carry, None, num_steps)
        gae = advantages(steps, agent.apply(train_state.params, obs)[1])
        scaled = (gae - gae.mean()) / (gae.std() + 1e-8)
        batch = (steps._replace(info={}), scaled, gae + steps.value)
        (train_state, _, rng), _ = jax.lax.scan(epoch, (train_state, batch, rng), None, 4)
        ended = steps.info["returned_episode"]
        mean = (steps.info["returned_episode_returns"] * ended).sum() / jnp.maximum(ended.sum(), 1)
        return (train_state, env_state, obs, rng), mean

    @jax.jit
    def train(rng):
        rng, rng_init, rng_reset = jax.random.split(rng, 3)
        params = agent.init(rng_init, jnp.zeros(env.observation_space(env_params).shape))
        optimizer = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(1e-3, eps=1e-5))
        train_state = TrainState.create(apply_fn=agent.apply, params=params, tx=optimizer)
        obs, env_state = jax.vmap(env.reset, (0, None))(jax.random.split(rng_reset, num_envs), env_params)
        return jax.lax.scan(update, (train_state, env_state, obs, rng), None, num_updates)[1]

    returns = train(jax.random.PRNGKey(1))
    assert returns[0] < before
    assert returns[-5:].mean() > after
