# %% [markdown]
# # Meta-reinforcement learning: a memory that learns inside an episode
#
# Each episode is a new bandit with two arms, which pay with probabilities `p` and `1 - p`. Nobody tells the agent `p`,
# but the observation contains its last action and reward. A network with a memory that is trained over many bandits by
# PPO learns to find out which arm is better, within an episode and without a change of its weights ([Wang et al.,
# 2017](https://arxiv.org/abs/1611.05763), [Duan et al., 2016](https://arxiv.org/abs/1611.02779)).
#
# Thompson sampling plays the same bandits. It knows the rules of a bandit, but not that the two arms depend on each
# other.
#
# Install what this notebook uses, in a clone of the repository:
#
# ```bash
# pip install ./core ./plugins/runs ./plugins/baselines ./packages/misc
# ```

# %%
import envcore_baselines
import jax
import jax.numpy as jnp
import numpy as np
from envcore.wrappers import Batched

TOTAL_STEPS = 500_000

trained = envcore_baselines.train(
    "ppo",
    "BernoulliBandit-misc",
    options={"arms": "dependent-uniform"},
    memory=48,
    total_steps=TOTAL_STEPS,
)
print("mean return of every tenth point", trained.returns[::10, 0].round(1))
agent = trained.agents[0]
env, params = agent.env, agent.params
NUM_ARMS, EPISODE = 2, int(params.max_steps_in_episode)


# %% [markdown]
# ## Episodes
#
# A player consists of its memory at the start of an episode, and of `act(memory, obs, key) -> action, memory`. So the
# same function plays episodes with the agent and with Thompson sampling.


# %%
def regret_of(start, act):
    """The regret of 2,000 episodes: the mean reward of the best arm minus that of the chosen one, summed over steps."""
    bandits = Batched(env, 2000)

    def step(carry, key):
        obs, state, memory = carry
        key_act, key_step = jax.random.split(key)
        action, memory = jax.vmap(act)(memory, obs, jax.random.split(key_act, 2000))
        obs, state, _, _, info = bandits.step(key_step, state, action, params)
        return (obs, state, memory), info["regret"]

    @jax.jit
    def play(key):
        key_reset, key_steps = jax.random.split(key)
        memory = jnp.broadcast_to(start, (2000, *start.shape))
        carry = (*bandits.reset(key_reset, params), memory)
        return jax.lax.scan(step, carry, jax.random.split(key_steps, EPISODE))[1].sum(axis=0)

    return np.asarray(play(jax.random.key(1)))


# %% [markdown]
# ## Thompson sampling
#
# It counts the successes and the pulls of each arm, and pulls an arm with the probability that it is the best one, for
# a uniform prior. The observation is the last reward, the last arm (one-hot), and the time. The first one shows a pull
# of the first arm, which has not been.


# %%
start_counts = jnp.zeros((2, NUM_ARMS)).at[1, 0].set(-1.0)


def thompson(counts, obs, key):
    arm = obs[1 : 1 + NUM_ARMS]
    successes, pulls = counts = counts + jnp.stack([arm * obs[0], arm])
    return jnp.argmax(jax.random.beta(key, 1 + successes, 1 + pulls - successes)), counts


# %% [markdown]
# ## Comparison

# %%
regrets = {
    "Thompson sampling": regret_of(start_counts, thompson),
    "PPO with a memory": regret_of(agent.start_memory(), agent.act),
}
for name, regret in regrets.items():
    print(f"{name}: regret {regret.mean():.2f} ± {regret.std() / np.sqrt(len(regret)):.2f} in {EPISODE} steps")

# %% [markdown]
# ## What to change next
#
# - Independent arms: with `arms="independent"` there is nothing left that only the agent could know.
# - More of them: the option `num_arms=4`, and `NUM_ARMS = 4`.
# - From the command line: `envcore train ppo BernoulliBandit-misc --setting memory=48 --out bandit` ([`PPO`]).
#
# [`PPO`]: https://envcore.github.io/envcore/reference/algorithms.html#envcore_baselines.ppo.PPO
