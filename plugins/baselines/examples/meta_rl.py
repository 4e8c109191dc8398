# %% [markdown]
# # Meta-reinforcement learning: an LSTM that learns inside an episode
#
# Each episode is a new bandit with two arms, which pay with probabilities `p` and `1 - p`. Nobody tells the agent `p`,
# but the observation contains its last action and reward. An LSTM that is trained over many bandits by A2C learns to
# find out which arm is better, within an episode and without a change of its weights ([Wang et al.,
# 2017](https://arxiv.org/abs/1611.05763), [Duan et al., 2016](https://arxiv.org/abs/1611.02779)).
#
# Two classical algorithms play the same bandits: UCB1 ([Auer et al., 2002](https://doi.org/10.1023/A:1013689704352))
# and Thompson sampling. They know the rules of a bandit, but not that the two arms depend on each other.
#
# Install what this notebook uses, in a clone of the repository:
#
# ```bash
# pip install ./core ./plugins/runs ./plugins/baselines ./packages/misc
# ```

# %%
import functools
from typing import Any, NamedTuple

import envcore
import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import optax
from envcore.wrappers import Batched
from flax import linen as nn

NUM_UPDATES = 800
NUM_ENVS = 128

env, params = envcore.make("BernoulliBandit-misc", arms="dependent-uniform")
NUM_ARMS = 2
EPISODE = int(params.max_steps_in_episode)


# %% [markdown]
# ## The agent
#
# At each step the LSTM reads the observation and gives logits of the arms and an estimate of the rewards to come.


# %%
class Agent(nn.Module):
    units: int = 48

    @nn.compact
    def __call__(self, memory, obs):
        cell = nn.OptimizedLSTMCell(self.units, recurrent_kernel_init=nn.initializers.lecun_normal())
        memory, hidden = cell(memory, obs)
        return memory, (nn.Dense(NUM_ARMS)(hidden), nn.Dense(1)(hidden)[..., 0])

    def start_memory(self, batch):
        return jnp.zeros((batch, self.units)), jnp.zeros((batch, self.units))


agent = Agent()


# %% [markdown]
# ## Episodes
#
# A player consists of `start(batch)`, its memory at the start of an episode, and `act(key, memory, obs) -> action,
# memory`. So the same function plays episodes with the LSTM, UCB1 and Thompson sampling.


# %%
class Step(NamedTuple):
    obs: Any
    action: Any
    reward: Any
    regret: Any


def play(key, start, act, batch):
    """Plays `batch` bandits side by side for a whole episode; returns steps with leading axes (time, bandit)."""
    bandits = Batched(env, batch)
    key_reset, key_steps = jax.random.split(key)
    obs, state = bandits.reset(key_reset, params)

    def step(carry, key):
        obs, state, memory = carry
        key_act, key_step = jax.random.split(key)
        action, memory = act(key_act, memory, obs)
        next_obs, state, reward, _, info = bandits.step(key_step, state, action, params)
        return (next_obs, state, memory), Step(obs, action, reward, info["regret"])

    _, steps = jax.lax.scan(step, (obs, state, start(batch)), jax.random.split(key_steps, EPISODE))
    return steps


def network(weights, memory, obs) -> Any:
    return agent.apply(weights, memory, obs)


def lstm(weights):
    """The agent as a player that samples its actions."""

    def act(key, memory, obs):
        memory, (logits, _) = network(weights, memory, obs)
        return jax.random.categorical(key, logits), memory

    return agent.start_memory, act


# %% [markdown]
# ## A2C
#
# Advantage actor-critic ([Mnih et al., 2016](https://arxiv.org/abs/1602.01783)) on whole episodes: the advantage of an
# action is the discounted sum of the rewards that follow, minus the agent's own estimate of it. The bonus for entropy
# falls to zero.

# %%
DISCOUNT = 0.9
VALUE_COEFFICIENT = 0.05
ENTROPY_START = 0.1


def loss(weights, steps, entropy_coefficient):
    _, (logits, values) = jax.lax.scan(functools.partial(network, weights), agent.start_memory(NUM_ENVS), steps.obs)

    def discounted(total, reward):
        total = reward + DISCOUNT * total
        return total, total

    _, returns = jax.lax.scan(discounted, jnp.zeros(NUM_ENVS), steps.reward, reverse=True)
    log_probs = jax.nn.log_softmax(logits)
    chosen = jnp.take_along_axis(log_probs, steps.action[..., None], axis=-1)[..., 0]
    advantages = returns - values
    policy_loss = -(chosen * jax.lax.stop_gradient(advantages)).mean()
    entropy = -(jnp.exp(log_probs) * log_probs).sum(-1).mean()
    return policy_loss + VALUE_COEFFICIENT * (advantages**2).mean() - entropy_coefficient * entropy


optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(optax.linear_schedule(1e-2, 0.0, NUM_UPDATES)))


def update(carry, number):
    key, weights, moments = carry
    key, key_play = jax.random.split(key)
    steps = play(key_play, *lstm(weights), NUM_ENVS)
    entropy_coefficient = ENTROPY_START * (1 - number / NUM_UPDATES)
    gradients = jax.grad(loss)(weights, steps, entropy_coefficient)
    updates, moments = optimizer.update(gradients, moments)
    return (key, optax.apply_updates(weights, updates), moments), steps.regret.sum(axis=0).mean()


@jax.jit
def train(key):
    key, key_init = jax.random.split(key)
    obs, _ = env.reset(key_init, params)
    weights = agent.init(key_init, agent.start_memory(1), obs[None])
    (_, weights, _), regret = jax.lax.scan(update, (key, weights, optimizer.init(weights)), jnp.arange(NUM_UPDATES))
    return weights, regret


weights, training_regret = train(jax.random.key(0))
for part in np.array_split(np.asarray(training_regret), 10):
    print(f"regret of an episode while training: {part.mean():.2f}")


# %% [markdown]
# ## UCB1 and Thompson sampling
#
# They count the successes and the pulls of each arm. The observation is the last reward, the last arm (one-hot), and
# the time. Before the first step all rewards are 0, so the first observation counts for nothing.


# %%
def start_counts(batch):
    zeros = jnp.zeros((batch, NUM_ARMS))
    return zeros, zeros, jnp.int32(0)


def count(counts, obs):
    successes, pulls, time = counts
    arm = jnp.where(time > 0, obs[:, 1 : 1 + NUM_ARMS], 0.0)
    return successes + arm * obs[:, :1], pulls + arm, time + 1


def ucb(key, counts, obs):
    """Pulls each arm once, then the one with the highest upper confidence bound."""
    successes, pulls, time = counts = count(counts, obs)
    bound = successes / pulls + jnp.sqrt(2 * jnp.log(time - 1) / pulls)
    return jnp.argmax(jnp.where(pulls == 0, jnp.inf, bound), axis=-1), counts


def thompson(key, counts, obs):
    """Pulls each arm with the probability that it is the best one, for a uniform prior."""
    successes, pulls, _ = counts = count(counts, obs)
    return jnp.argmax(jax.random.beta(key, 1 + successes, 1 + pulls - successes), axis=-1), counts


# %% [markdown]
# ## Comparison
#
# All play 2,000 new bandits. The regret of a step is the mean reward of the best arm minus that of the chosen one.

# %%
players = {
    "UCB1": (start_counts, ucb),
    "Thompson sampling": (start_counts, thompson),
    "LSTM, trained by A2C": lstm(weights),
}
regrets = {}
for name, player in players.items():
    regret = jax.jit(lambda key, player=player: play(key, *player, 2000).regret)(jax.random.key(1))
    regrets[name] = np.cumsum(np.asarray(regret), axis=0)
    total = regrets[name][-1]
    print(f"{name}: regret {total.mean():.2f} ± {total.std() / np.sqrt(len(total)):.2f} in {EPISODE} steps")

# %%
figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
for name, regret in regrets.items():
    axes.plot(np.arange(1, EPISODE + 1), regret.mean(axis=1), label=name)
axes.set(
    xlabel="step of the episode", ylabel="regret so far", title="2,000 bandits with arms that pay with p and 1 - p"
)
axes.legend()
plt.show()

# %% [markdown]
# ## What to change next
#
# - Independent arms: with `arms="independent"` there is nothing left that only the LSTM could know.
# - More of them: `num_arms=4`, and `NUM_ARMS = 4`.
# - The algorithm as a file: `envcore train ppo_rnn BernoulliBandit-misc --out bandit` ([`RecurrentPPO`]).
#
# [`RecurrentPPO`]: https://envcore.github.io/envcore/reference/algorithms.html#envcore_baselines.ppo_rnn.RecurrentPPO
