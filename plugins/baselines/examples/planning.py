# %% [markdown]
# # Planning with the true model
#
# A search such as MuZero's asks a model what an action leads to. Here the model is the environment: `draw` and
# `transition` are pure functions, so [mctx](https://github.com/google-deepmind/mctx) can call them at every node of
# thousands of trees at once. In Asterix, a network that PPO has barely trained plays much better with a search than
# alone.
#
# Install what this notebook uses, in a clone of the repository:
#
# ```bash
# pip install ./core ./plugins/runs './plugins/baselines[planning]' ./packages/minatar
# ```

# %%
# pyright: reportAttributeAccessIssue=false, reportCallIssue=false
import envcore
import jax
import jax.numpy as jnp
import mctx
import numpy as np
from envcore.wrappers import Batched
from envcore_baselines.ppo import PPO, ActorCritic, PPOConfig

DISCOUNT, NUM_SIMULATIONS = 0.99, 16
NUM_EPISODES = 64

# %% [markdown]
# ## A network and its episodes
#
# The network maps observations to the logits of a policy and to values: what a search starts from.

# %%
TOTAL_STEPS = 800_000

env, params = envcore.make("Asterix-MinAtar")
config = PPOConfig(
    TOTAL_STEPS, num_envs=64, minibatches=8, learning_rate=4e-3, discount=DISCOUNT, activation="relu", hidden=(64,)
)
actor_critic = ActorCritic(config, env.action_space(params).n, 0)
ppo = PPO(env, params, config, network=actor_critic)


@jax.jit
def trained(key):
    return jax.lax.scan(lambda state, _: ppo.update(state), ppo.init(key), length=ppo.num_updates)[0]


weights = trained(jax.random.key(1)).agent.network


def network(obs):
    return actor_critic.apply(weights, obs)


def mean_return(name, act):
    """Plays episodes side by side, cut after 300 steps; prints and returns their mean and its standard error."""
    batch = Batched(env, NUM_EPISODES)

    @jax.jit
    def play(key):
        key_reset, key_steps = jax.random.split(key)
        obs, state = batch.reset(key_reset, params)

        def step(carry, key):
            obs, state, running = carry
            key_act, key_step = jax.random.split(key)
            obs, state, reward, done, _ = batch.step(key_step, state, act(key_act, obs, state), params)
            return (obs, state, running & ~done), jnp.where(running, reward, 0.0)

        start = (obs, state, jnp.ones(NUM_EPISODES, bool))
        return jax.lax.scan(step, start, jax.random.split(key_steps, 300))[1].sum(axis=0)

    returns = np.asarray(play(jax.random.key(1)))
    mean, error = returns.mean(), returns.std() / np.sqrt(NUM_EPISODES)
    print(f"{name}: mean return {mean:.2f} ± {error:.2f}", flush=True)
    return mean, error


# %% [markdown]
# ## A search
#
# Asterix draws one of thousands of things that may appear at the edge. Each new node of the tree takes a step with
# draws of its own, and the tree keeps them. The model is `step_env`, a step without auto-reset, which calls `draw` and
# `transition`. The search is Gumbel MuZero's ([Danihelka et al.,
# 2022](https://openreview.net/forum?id=bERaNdoegnO)). Episodes are cut after 300 steps.


# %%
def model(_, key, action, state):
    keys = jax.random.split(key, len(action))
    obs, state, reward, _, info = jax.vmap(env.step_env, in_axes=(0, 0, 0, None))(keys, state, action, params)
    logits, value = network(obs)
    discount = DISCOUNT * info["discount"]
    return mctx.RecurrentFnOutput(reward=reward, discount=discount, prior_logits=logits, value=value), state


def search(key, obs, state):
    logits, value = network(obs)
    root = mctx.RootFnOutput(prior_logits=logits, value=value, embedding=state)
    return mctx.gumbel_muzero_policy((), key, root, model, NUM_SIMULATIONS, gumbel_scale=0.0).action


def alone(key, obs, state):
    """The network's most probable action."""
    return network(obs)[0].argmax(axis=-1)


# %% [markdown]
# ## Results

# %%
alone_return = mean_return("network alone", alone)
search_return = mean_return("search", search)

# %% [markdown]
# ## What to change next
#
# - More simulations: 8, 16, 32 and 64 of them, against the mean return.
# - A better network: train it for longer, and see how much is left for the search to gain.
# - Chance nodes: in `FrozenLake-misc`, [`draw`] has three results. [`transition`] takes each of them, so
#   `mctx.stochastic_muzero_policy` can branch over all.
# - Another game: [`step_env`] is a model of every environment.
#
# [`draw`]: https://envcore.github.io/envcore/reference/environment.html#envcore.environment.Environment.draw
# [`transition`]: https://envcore.github.io/envcore/reference/environment.html#envcore.environment.Environment.transition
# [`step_env`]: https://envcore.github.io/envcore/reference/environment.html#envcore.environment.Environment.step_env
