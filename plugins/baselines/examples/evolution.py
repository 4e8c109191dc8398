# %% [markdown]
# # Evolution
#
# Environments that run inside `vmap` suit evolution strategies: a whole population of policies plays at once, in one
# compiled program. [evosax](https://github.com/RobertTLange/evosax) has the strategies. All of them are asked for a
# population, and told how good its members are.
#
# First CMA-ES learns CartPole. Then OpenAI's strategy evolves an LSTM that swings up two-link pendula of different
# lengths.
#
# Install what this notebook uses, in a clone of the repository:
#
# ```bash
# pip install ./core ./plugins/runs ./plugins/baselines ./packages/classic-control
# ```

# %%
import functools
from typing import Any

import envcore
import jax
import jax.numpy as jnp
import optax
from evosax.algorithms import CMA_ES, Open_ES
from flax import linen as nn

# %% [markdown]
# ## A population and one `vmap`
#
# An episode is one `scan`, as in [Getting started](getting_started.ipynb). It is mapped over keys, then over policies.
# All policies play the same episodes, so that the differences between them are not luck.

# %%
env, params = envcore.make("CartPole-v1")


class MLP(nn.Module):
    @nn.compact
    def __call__(self, obs):
        return nn.Dense(2)(nn.tanh(nn.Dense(8)(obs)))


network = MLP()


def episode_return(policy, key):
    key_reset, key_steps = jax.random.split(key)
    obs, state = env.reset(key_reset, params)

    def step(carry, key):
        obs, state, running = carry
        preferences: Any = network.apply(policy, obs)
        obs, state, reward, done, _ = env.step(key, state, preferences.argmax(), params)
        return (obs, state, running & ~done), jnp.where(running, reward, 0.0)

    return jax.lax.scan(step, (obs, state, jnp.array(True)), jax.random.split(key_steps, 500))[1].sum()


population_returns = jax.vmap(jax.vmap(episode_return, in_axes=(None, 0)), in_axes=(0, None))

# %% [markdown]
# A generation: ask, play, tell. evosax minimizes, hence the minus. All generations are one `scan`, so that the whole
# evolution is one program.

# %%
CARTPOLE_GENERATIONS = 30

key, key_network = jax.random.split(jax.random.key(0))
first_policy = network.init(key_network, jnp.zeros(4))
strategy = CMA_ES(population_size=32, solution=first_policy)
strategy_params = strategy.default_params


def generation(state, key):
    key_ask, key_play, key_tell = jax.random.split(key, 3)
    population, state = strategy.ask(key_ask, state, strategy_params)
    returns = population_returns(population, jax.random.split(key_play, 8))
    state, _ = strategy.tell(key_tell, population, -returns.mean(axis=1), state, strategy_params)
    return state, returns.mean()


@jax.jit
def evolve_cartpole(key):
    key_start, key_generations = jax.random.split(key)
    state = strategy.init(key_start, first_policy, strategy_params)
    return jax.lax.scan(generation, state, jax.random.split(key_generations, CARTPOLE_GENERATIONS))


state, cartpole_curve = evolve_cartpole(key)
print("CartPole-v1: mean return of every third generation", cartpole_curve[::3].round())

# %% [markdown]
# The policy to keep is the mean of the strategy's distribution:

# %%
cartpole_policy = strategy.get_mean(state)
test_keys = jax.random.split(jax.random.key(1), 200)
cartpole_returns = jax.jit(jax.vmap(episode_return, in_axes=(None, 0)))(cartpole_policy, test_keys)
print(f"CartPole-v1: mean return {cartpole_returns.mean():.0f} over {len(test_keys)} new episodes")

# %% [markdown]
# ## A controller for pendula of different lengths
#
# Acrobot is a two-link pendulum. The lengths of its links are numbers in its params, so `vmap` runs over them as well.
# Each generation draws lengths anew. The controller is told neither the lengths nor the velocities: it sees the angles
# alone, and has to find out how this pendulum swings. An LSTM can, since it remembers what it has seen.

# %%
acrobot, acrobot_params = envcore.make("Acrobot-v1")
TRAINED_LENGTHS = (0.4, 1.6)  # m


def pendulum_params(length):
    return acrobot_params.replace(
        link_length_1=length, link_length_2=length, link_com_pos_1=length / 2, link_com_pos_2=length / 2
    )


class LSTM(nn.Module):
    @nn.compact
    def __call__(self, memory, angles):
        # flax's default, an orthogonal matrix, is slow to compile.
        cell = nn.OptimizedLSTMCell(8, recurrent_kernel_init=nn.initializers.lecun_normal())
        memory, hidden = cell(memory, angles)
        return memory, nn.Dense(3)(hidden)


class FeedForward(nn.Module):
    """Has about as many parameters, and hands the memory on without looking at it."""

    @nn.compact
    def __call__(self, memory, angles):
        hidden = nn.tanh(nn.Dense(16)(angles))
        hidden = nn.tanh(nn.Dense(16)(hidden))
        return memory, nn.Dense(3)(hidden)


class Random(nn.Module):
    """Any action, with equal chance."""

    @nn.compact
    def __call__(self, memory, angles):
        return memory, jax.random.gumbel(self.make_rng("action"), (3,))


empty_memory = (jnp.zeros(8), jnp.zeros(8))


def swing_up(controller, policy, length, key):
    """Minus the number of steps until the tip is high enough, -500 if it never is."""
    task = pendulum_params(length)
    key_reset, key_steps = jax.random.split(key)
    obs, state = acrobot.reset(key_reset, task)

    def step(carry, key):
        memory, obs, state, running = carry
        key_action, key_step = jax.random.split(key)
        angles = obs[:4]  # cosine and sine of each
        memory, preferences = controller.apply(policy, memory, angles, rngs={"action": key_action})
        obs, state, reward, done, _ = acrobot.step(key_step, state, preferences.argmax(), task)
        return (memory, obs, state, running & ~done), jnp.where(running, reward, 0.0)

    start = (empty_memory, obs, state, jnp.array(True))
    return jax.lax.scan(step, start, jax.random.split(key_steps, 500))[1].sum()


# %% [markdown]
# OpenAI's strategy takes the place of CMA-ES: a covariance matrix of 500 parameters is large. It is given Adam, and
# searches more closely from generation to generation.

# %%
CONTROLLER_GENERATIONS = 50


def evolve(controller, key):
    """The mean of the distribution after all generations, and the mean return of each generation."""
    key_network, key_start, key_generations = jax.random.split(key, 3)
    first_policy = controller.init(key_network, empty_memory, jnp.zeros(4))
    strategy = Open_ES(
        population_size=128,
        solution=first_policy,
        optimizer=optax.adam(optax.linear_schedule(0.1, 0.0, CONTROLLER_GENERATIONS)),
        std_schedule=optax.exponential_decay(0.5, CONTROLLER_GENERATIONS, 0.2),
    )
    strategy_params = strategy.default_params
    over_pendula = jax.vmap(functools.partial(swing_up, controller), in_axes=(None, 0, 0))
    over_policies = jax.vmap(over_pendula, in_axes=(0, None, None))

    def generation(state, key):
        key_ask, key_length, key_play, key_tell = jax.random.split(key, 4)
        population, state = strategy.ask(key_ask, state, strategy_params)
        lengths = jax.random.uniform(key_length, (8,), minval=TRAINED_LENGTHS[0], maxval=TRAINED_LENGTHS[1])
        returns = over_policies(population, lengths, jax.random.split(key_play, 8))
        state, _ = strategy.tell(key_tell, population, -returns.mean(axis=1), state, strategy_params)
        return state, returns.mean()

    state = strategy.init(key_start, first_policy, strategy_params)
    state, curve = jax.lax.scan(generation, state, jax.random.split(key_generations, CONTROLLER_GENERATIONS))
    return strategy.get_mean(state), curve


controllers = {}
for controller in (LSTM(), FeedForward()):
    controllers[controller], curve = jax.jit(functools.partial(evolve, controller))(jax.random.key(2))
    print(f"{type(controller).__name__}: mean return of every fifth generation", curve[::5].round(), flush=True)
controllers[Random()] = {}  # it has no parameters

# %% [markdown]
# None of the test's lengths was seen in training, but all lie inside the range that lengths are drawn from. (Trained on
# 0.6 to 1.4 m, the LSTM often fails at 0.5 m.) It swings up all of these pendula, in all of its 500 episodes.

# %%
test_lengths = jnp.array([0.5, 0.8, 1.0, 1.2, 1.5])
test_keys = jax.random.split(jax.random.key(3), 100)
swing_up_returns = {}
print("link length, m ", *(f"{length:7.1f}" for length in test_lengths))
for controller, policy in controllers.items():
    over_keys = jax.vmap(functools.partial(swing_up, controller), in_axes=(None, None, 0))
    over_lengths = jax.jit(jax.vmap(over_keys, in_axes=(None, 0, None)))
    name = type(controller).__name__
    swing_up_returns[name] = over_lengths(policy, test_lengths, test_keys)
    means, swung_up = swing_up_returns[name].mean(axis=1), (swing_up_returns[name] > -500).sum()
    print(f"{name:15}", *(f"{mean:7.0f}" for mean in means), f"  swung up {swung_up}")

# %% [markdown]
# ## What to change next
#
# - Another strategy: any of `evosax.algorithms` has the same `ask` and `tell`.
# - Another family of tasks: draw `link_mass_1` beside the lengths; [`RandomizeParams`] draws params for each episode.
# - An evolution strategy with checkpoints and a learning curve: `envcore train es CartPole-v1 --out es`
#   ([`ES`]).
#
# [`RandomizeParams`]: https://envcore.github.io/envcore/reference/wrappers.html#envcore.wrappers.RandomizeParams
# [`ES`]: https://envcore.github.io/envcore/reference/algorithms.html#envcore_baselines.es.ES
