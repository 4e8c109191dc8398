# %% [markdown]
# # Getting started
#
# Make an environment, step it, compile whole episodes with `scan`, and run many of them at once: over random keys,
# policies and parameters with `vmap`, over devices with `pmap`.
#
# Install what this notebook uses, in a clone of the repository:
#
# ```bash
# pip install ./core ./packages/classic-control
# ```

# %%
import envcore
import jax
import jax.numpy as jnp
from envcore.rollout import run_rollout, start_rollout
from flax import linen as nn

jax.config.update("jax_num_cpu_devices", 2)  # for pmap below: a CPU counts as two devices

# %% [markdown]
# ## Make, reset, step

# %%
key, key_reset, key_action, key_step = jax.random.split(jax.random.key(0), 4)

env, params = envcore.make("Pendulum-v1")
obs, state = env.reset(key_reset, params)
action = env.action_space(params).sample(key_action)
next_obs, next_state, reward, done, info = env.step(key_step, state, action, params)
print("observation", obs, "action", action, "reward", reward, "done", done)

# %% [markdown]
# `params` holds the environment's numbers, `state` everything that changes. When an episode is done, `step` starts the
# next one: `next_obs` is then its first observation, and `info["final_obs"]` is the last one of the old episode.

# %%
print(params)
print(next_state)
print(sorted(info))

# %% [markdown]
# ## A policy and a rollout
#
# [`run_rollout`] takes the steps in one `lax.scan`, so it compiles to one program. An episode of Pendulum has 200
# steps.


# %%
class MLP(nn.Module):
    """A policy with one hidden layer."""

    @nn.compact
    def __call__(self, obs):
        return nn.Dense(1)(nn.relu(nn.Dense(48)(obs)))


def act(policy, obs, key):
    return network.apply(policy, obs)


def rollout(key, policy, params):
    """Return of an episode."""
    start = start_rollout(env, key, params)
    return run_rollout(env, act, start, 200, params, policy, collect=lambda step: step.reward)[1].sum()


network = MLP()
policy = network.init(key, obs)
episode_return = jax.jit(rollout)(key, policy, params)
print("return", episode_return)

# %% [markdown]
# ## Over keys, policies and parameters
#
# `in_axes` says which arguments have an axis to map over.

# %%
keys = jax.random.split(key, 10)
batch_rollout = jax.jit(jax.vmap(rollout, in_axes=(0, None, None)))
batch_returns = batch_rollout(keys, policy, params)
print("ten episodes of a policy", batch_returns)

# %%
policies = jax.vmap(network.init, in_axes=(0, None))(jax.random.split(key, 5), obs)
population_rollout = jax.jit(jax.vmap(batch_rollout, in_axes=(None, 0, None)))
population_returns = population_rollout(keys, policies, params)
print("five policies, mean returns", population_returns.mean(axis=1))

# %% [markdown]
# Parameters work the same way. Only gravity differs here, so only gravity has an axis:

# %%
gravities = jnp.array([0.0, 5.0, 10.0, 15.0])
params_axes = jax.tree.map(lambda _: None, params).replace(g=0)
params_rollout = jax.jit(jax.vmap(batch_rollout, in_axes=(None, None, params_axes)))
gravity_returns = params_rollout(keys, policy, params.replace(g=gravities))
print("mean return at gravity", dict(zip(gravities.tolist(), gravity_returns.mean(axis=1).tolist(), strict=True)))

# %% [markdown]
# ## Over devices
#
# `pmap` runs a part of the batch on each device.

# %%
num_devices = jax.device_count()
device_keys = jax.random.split(key, (num_devices, 4))
device_returns = jax.pmap(batch_rollout, in_axes=(0, None, None))(device_keys, policy, params)
print(f"four episodes on each of {num_devices} devices", device_returns)

# %% [markdown]
# ## What to change next
#
# - Another environment: `envcore.make("CartPole-v1")`, with a network of two outputs and their `argmax` as the action.
# - Other params: replace `g` by `l`, the length of the pendulum, in the map over gravities.
# - Other policies: any `policy(policy_params, obs, key)`, such as [`random_policy`]`(env)`.
# - Thousands of environments that take a step together, with one key: [`Batched`]`(env, 2048)` in place of `env`.
#
# [`Batched`]: https://envcore.github.io/envcore/reference/wrappers.html#envcore.wrappers.Batched
# [`random_policy`]: https://envcore.github.io/envcore/reference/rollout.html#envcore.rollout.random_policy
# [`run_rollout`]: https://envcore.github.io/envcore/reference/rollout.html#envcore.rollout.run_rollout
