# %% [markdown]
# # Planning with the true model
#
# A search such as MuZero's asks a model what an action leads to. Here the model is the environment: `draw` and
# `transition` are pure functions, so [mctx](https://github.com/google-deepmind/mctx) can call them at every node of
# thousands of trees at once. Two networks that PPO has barely trained play much better with a search than alone.
#
# Install what this notebook uses, in a clone of the repository:
#
# ```bash
# pip install ./core ./plugins/runs './plugins/baselines[planning]' ./packages/minatar ./packages/misc
# ```

# %%
# pyright: reportCallIssue=false
import envcore
import jax
import jax.numpy as jnp
import mctx
import numpy as np
from envcore.wrappers import Batched
from envcore_baselines.ppo import PPO, ActorCritic, PPOConfig

DISCOUNT = 0.99

# %% [markdown]
# ## A network and its episodes
#
# The network maps observations to the logits of a policy and to values: what a search starts from.


# %%
def trained_network(env, params, **settings):
    """PPO's view of the environment, which flattens observations, and the function `network(obs) -> logits, values`."""
    config = PPOConfig(discount=DISCOUNT, **settings)
    network = ActorCritic(config, env.action_space(params).n, 0)
    ppo = PPO(env, params, config, network=network)

    @jax.jit
    def learn(key):
        return jax.lax.scan(lambda state, _: ppo.update(state), ppo.init(key), length=ppo.num_updates)[0]

    weights = learn(jax.random.key(1)).agent.network
    return ppo.env, lambda obs: network.apply(weights, obs)


def mean_return(name, env, params, act, num_episodes, num_steps):
    """Plays episodes side by side, cut after `num_steps`; prints and returns their mean and its standard error."""
    batch = Batched(env, num_episodes)

    @jax.jit
    def play(key):
        key_reset, key_steps = jax.random.split(key)
        obs, state = batch.reset(key_reset, params)

        def step(carry, key):
            obs, state, running = carry
            key_act, key_step = jax.random.split(key)
            obs, state, reward, done, _ = batch.step(key_step, state, act(key_act, obs, state), params)
            return (obs, state, running & ~done), jnp.where(running, reward, 0.0)

        start = (obs, state, jnp.ones(num_episodes, bool))
        return jax.lax.scan(step, start, jax.random.split(key_steps, num_steps))[1].sum(axis=0)

    returns = np.asarray(play(jax.random.key(1)))
    mean, error = returns.mean(), returns.std() / np.sqrt(num_episodes)
    print(f"{name}: mean return {mean:.2f} ± {error:.2f}", flush=True)
    return mean, error


def alone(network):
    """The network's most probable action."""
    return lambda key, obs, state: network(obs)[0].argmax(axis=-1)


# %% [markdown]
# ## Draws that are few: chance nodes
#
# On slippery ice a move goes where it should with probability 1/3, else to either side. So a step has three draws, and
# the tree of Stochastic MuZero ([Antonoglou et al., 2022](https://openreview.net/forum?id=X6D9bAHhBQ1)) fits: after an
# action comes a chance node, and each of its branches is a `transition` with one of the draws. The value of a new
# chance node is the mean over all of them. The search gets no noise, and takes the action that it has visited most.

# %%
LAKE_SIMULATIONS = 32

lake, lake_params = envcore.make("FrozenLake-misc")
turns = jnp.array([-1, 0, 1])
flat_lake, lake_network = trained_network(lake, lake_params, total_steps=60_000, learning_rate=1e-3)


def after(state, action, draws):
    """What a model has to say about a batch of transitions, and the states after them."""
    transition = jax.vmap(lake.transition, in_axes=(0, 0, 0, None))
    state, reward, terminated = transition(state, action, draws, lake_params)
    logits, value = lake_network(jax.vmap(flat_lake.observe, in_axes=(0, None))(state, lake_params))
    output = mctx.ChanceRecurrentFnOutput(
        action_logits=logits, value=value, reward=reward, discount=DISCOUNT * (1.0 - terminated)
    )
    return output, state


def decide(_, key, action, state):
    def value(turn):
        output, _ = after(state, action, jnp.full_like(action, turn))
        return output.reward + output.discount * output.value

    values = jax.vmap(value)(turns).mean(axis=0)
    chance_logits = jnp.zeros((len(action), len(turns)))  # all turns are equally probable
    return mctx.DecisionRecurrentFnOutput(chance_logits=chance_logits, afterstate_value=values), (state, action)


def chance(_, key, outcome, afterstate):
    return after(*afterstate, turns[outcome])


def search_with_chance_nodes(key, obs, state):
    logits, value = lake_network(obs)
    root = mctx.RootFnOutput(prior_logits=logits, value=value, embedding=state)
    search = mctx.stochastic_muzero_policy(
        (), key, root, decide, chance, LAKE_SIMULATIONS, dirichlet_fraction=0.0, temperature=0.0
    )
    return search.action


# %% [markdown]
# ## Draws that are many: new ones at every node
#
# Asterix draws one of thousands of things that may appear at the edge. Here each new node takes a step with draws of
# its own, and the tree keeps them. `step_env`, a step without auto-reset, does that: it is `draw` and `transition`. The
# search is Gumbel MuZero's ([Danihelka et al., 2022](https://openreview.net/forum?id=bERaNdoegnO)).


# %%
def gumbel_search(env, params, network, num_simulations):
    def model(_, key, action, state):
        keys = jax.random.split(key, len(action))
        obs, state, reward, _, info = jax.vmap(env.step_env, in_axes=(0, 0, 0, None))(keys, state, action, params)
        logits, value = network(obs)
        discount = DISCOUNT * info["discount"]
        return mctx.RecurrentFnOutput(reward=reward, discount=discount, prior_logits=logits, value=value), state

    def act(key, obs, state):
        logits, value = network(obs)
        root = mctx.RootFnOutput(prior_logits=logits, value=value, embedding=state)
        return mctx.gumbel_muzero_policy((), key, root, model, num_simulations, gumbel_scale=0.0).action

    return act


# %% [markdown]
# ## Results
#
# On the lake both trees are compared. A node that is made with one draw makes the plan rely on it: the search believes
# that it can choose its luck, and plays worse than the network. Chance nodes know better.

# %%
LAKE_EPISODES = 200

LAKE = (flat_lake, lake_params)
lake_alone = mean_return("FrozenLake, network alone", *LAKE, alone(lake_network), 1000, 100)
gumbel = gumbel_search(*LAKE, lake_network, LAKE_SIMULATIONS)
lake_gumbel = mean_return("FrozenLake, a draw at each node", *LAKE, gumbel, LAKE_EPISODES, 100)
lake_search = mean_return("FrozenLake, chance nodes", *LAKE, search_with_chance_nodes, LAKE_EPISODES, 100)

# %% [markdown]
# What appears in Asterix appears far away, so that a plan relies on it less. Episodes are cut after 300 steps.

# %%
ASTERIX_STEPS = 800_000
ASTERIX_EPISODES = 64

ASTERIX = envcore.make("Asterix-MinAtar")
_, network = trained_network(
    *ASTERIX, total_steps=ASTERIX_STEPS, num_envs=64, minibatches=8, learning_rate=4e-3, activation="relu", hidden=(64,)
)
asterix_alone = mean_return("Asterix, network alone", *ASTERIX, alone(network), ASTERIX_EPISODES, 300)
gumbel = gumbel_search(*ASTERIX, network, 16)
asterix_search = mean_return("Asterix, search", *ASTERIX, gumbel, ASTERIX_EPISODES, 300)

# %% [markdown]
# ## What to change next
#
# - More simulations: 8, 16, 32 and 64 of them, against the mean return.
# - A better network: train it for longer, and see how much is left for the search to gain.
# - Another game: whatever [`draw`] returns as a small container can be a chance node of [`transition`]; for all others
#   [`step_env`] draws for each node.
#
# [`draw`]: https://envcore.github.io/envcore/reference/environment.html#envcore.environment.Environment.draw
# [`transition`]: https://envcore.github.io/envcore/reference/environment.html#envcore.environment.Environment.transition
# [`step_env`]: https://envcore.github.io/envcore/reference/environment.html#envcore.environment.Environment.step_env
