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
# A generation: ask, play, tell. evosax minimizes, hence the minus. All generations are one `scan`, so that the whole
# evolution is one program. All policies play the same episodes, so that the differences between them are not luck. The
# policy to keep is the mean of the strategy's distribution.


# %%
def evolve(strategy, first_policy, episode_return, num_generations, key):
    """A policy for which `episode_return(policy, key)` is high, and the mean return of each generation."""
    population_returns = jax.vmap(jax.vmap(episode_return, (None, 0)), (0, None))  # over keys, then over policies
    strategy_params = strategy.default_params

    def generation(state, key):
        key_ask, key_play, key_tell = jax.random.split(key, 3)
        population, state = strategy.ask(key_ask, state, strategy_params)
        returns = population_returns(population, jax.random.split(key_play, 8))
        state, _ = strategy.tell(key_tell, population, -returns.mean(axis=1), state, strategy_params)
        return state, returns.mean()

    @jax.jit
    def generations(key):
        key_start, key_generations = jax.random.split(key)
        state = strategy.init(key_start, first_policy, strategy_params)
        return jax.lax.scan(generation, state, jax.random.split(key_generations, num_generations))

    state, curve = generations(key)
    return strategy.get_mean(state), curve


def play(env, params, act, memory, key):
    """The return of an episode of at most 500 steps, where `act(memory, obs)` gives the next memory and the action."""
    key_reset, key_steps = jax.random.split(key)
    obs, state = env.reset(key_reset, params)

    def step(carry, key):
        memory, obs, state, running = carry
        memory, action = act(memory, obs)
        obs, state, reward, done, _ = env.step(key, state, action, params)
        return (memory, obs, state, running & ~done), jnp.where(running, reward, 0.0)

    return jax.lax.scan(step, (memory, obs, state, jnp.array(True)), jax.random.split(key_steps, 500))[1].sum()


# %% [markdown]
# ## CartPole

# %%
env, params = envcore.make("CartPole-v1")


class MLP(nn.Module):
    @nn.compact
    def __call__(self, obs) -> Any:
        return nn.Dense(2)(nn.tanh(nn.Dense(8)(obs))).argmax()


def cartpole_return(policy, key):
    return play(env, params, lambda memory, obs: (memory, MLP().apply(policy, obs)), (), key)


first_policy = MLP().init(jax.random.key(0), jnp.zeros(4))
strategy = CMA_ES(population_size=32, solution=first_policy)
cartpole_policy, cartpole_curve = evolve(strategy, first_policy, cartpole_return, 30, jax.random.key(0))
print("CartPole-v1: mean return of every third generation", cartpole_curve[::3].round())

test_keys = jax.random.split(jax.random.key(1), 200)
cartpole_returns = jax.jit(jax.vmap(cartpole_return, (None, 0)))(cartpole_policy, test_keys)
print(f"CartPole-v1: mean return {cartpole_returns.mean():.0f} over {len(test_keys)} new episodes")

# %% [markdown]
# ## A controller for pendula of different lengths
#
# Acrobot is a two-link pendulum. The lengths of its links are numbers in its params, so `vmap` runs over them as well.
# Each episode draws a length. The controller is told neither the length nor the velocities: it sees the angles alone,
# and has to find out how this pendulum swings. An LSTM can, since it remembers what it has seen.
#
# OpenAI's strategy takes the place of CMA-ES: a covariance matrix of 500 parameters is large. It is given Adam, and
# searches more closely from generation to generation.

# %%
acrobot, acrobot_params = envcore.make("Acrobot-v1")
CONTROLLER_GENERATIONS = 50


class LSTM(nn.Module):
    @nn.compact
    def __call__(self, memory, angles) -> Any:
        # flax's default, an orthogonal matrix, is slow to compile.
        cell = nn.OptimizedLSTMCell(8, recurrent_kernel_init=nn.initializers.lecun_normal())
        memory, hidden = cell(memory, angles)
        return memory, nn.Dense(3)(hidden).argmax()


empty_memory = (jnp.zeros(8), jnp.zeros(8))


def swing_up(policy, length, key):
    """Minus the number of steps until the tip is high enough, -500 if it never is."""
    task = acrobot_params.replace(
        link_length_1=length, link_length_2=length, link_com_pos_1=length / 2, link_com_pos_2=length / 2
    )
    angles = slice(4)  # cosine and sine of each
    return play(acrobot, task, lambda memory, obs: LSTM().apply(policy, memory, obs[angles]), empty_memory, key)


def swing_up_any(policy, key):
    key_length, key_play = jax.random.split(key)
    return swing_up(policy, jax.random.uniform(key_length, minval=0.4, maxval=1.6), key_play)


first_policy = LSTM().init(jax.random.key(2), empty_memory, jnp.zeros(4))
strategy = Open_ES(
    population_size=128,
    solution=first_policy,
    optimizer=optax.adam(optax.linear_schedule(0.1, 0.0, CONTROLLER_GENERATIONS)),
    std_schedule=optax.exponential_decay(0.5, CONTROLLER_GENERATIONS, 0.2),
)
policy, curve = evolve(strategy, first_policy, swing_up_any, CONTROLLER_GENERATIONS, jax.random.key(2))
print("Acrobot-v1: mean return of every fifth generation", curve[::5].round())

# %% [markdown]
# It swings up pendula of all these lengths, in metres, of which it has seen none in training:

# %%
test_lengths = [0.5, 0.8, 1.0, 1.2, 1.5]
over_lengths = jax.jit(jax.vmap(jax.vmap(swing_up, (None, None, 0)), (None, 0, None)))
swing_up_returns = over_lengths(policy, jnp.array(test_lengths), test_keys[:100])
print(dict(zip(test_lengths, swing_up_returns.mean(axis=1).round().tolist(), strict=True)))
print(f"swung up in {(swing_up_returns > -500).sum()} of {swing_up_returns.size} episodes")

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
