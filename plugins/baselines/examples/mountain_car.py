# %% [markdown]
# # MountainCar on all devices
#
# A batch of cars on each device: `pmap(vmap(rollout))`, where a rollout is one `scan`. This follows the notebook
# [RL environment in JAX](https://colab.research.google.com/github/azzeddineCH/RL-environment-in-JAX/blob/main/RL_env.ipynb).
#
# Install what this notebook uses, in a clone of the repository:
#
# ```bash
# pip install ./core ./packages/classic-control
# ```

# %%
import functools

import envcore
import jax
import jax.numpy as jnp
from envcore.rollout import random_policy, run_rollout, start_rollout
from envcore.wrappers import LogWrapper

jax.config.update("jax_num_cpu_devices", 2)  # a CPU counts as two devices; GPUs and TPUs count as they are

env, params = envcore.make("MountainCar-v0")

# %% [markdown]
# ## Store every step
#
# What the notebook stores, with its errors corrected:
#
# - `x.at[i].set(y)` returns a new array. The notebook discards it, so all its results stay zero.
# - Each car has its own random actions, and all three of them. There, all cars share one action key, and
#   `randint(key, shape, 0, 2)` never pushes right, because the upper bound is exclusive.
# - A key is used once, and `step` needs one for the next episode's start.
# - The observation after an episode's last step is `info["final_obs"]`. The notebook stores the next episode's first.
# - Episodes are truncated after 200 steps. The notebook has no time limit.


# %%
def pump(policy_params, obs, key):
    """Push in the direction of motion, which adds energy on every step."""
    velocity = obs[1]
    return jnp.where(velocity < 0, 0, 2)


@functools.partial(jax.pmap, static_broadcasted_argnums=0)
@functools.partial(jax.vmap, in_axes=(None, 0))
def store_steps(policy, key):
    """Observations, rewards and ends of 1,000 steps of a car."""
    start = start_rollout(env, key, params)
    return run_rollout(env, policy, start, 1000, params, collect=lambda step: (step.next_obs, step.reward, step.done))[
        1
    ]


num_devices = jax.device_count()
keys = jax.random.split(jax.random.key(0), (num_devices, 4))

all_obs, all_reward, all_done = store_steps(random_policy(env), keys)
print("observations", all_obs.shape, "rewards", all_reward.shape, "ends", all_done.shape)
print("rightmost positions with random actions", all_obs[..., 0].max(axis=-1))

# %% [markdown]
# Random actions never reach the goal at 0.5. Pushing in the direction of motion does:

# %%
pumped_obs, pumped_reward, pumped_done = store_steps(pump, keys)
print("rightmost positions with pump", pumped_obs[..., 0].max(axis=-1))

# %% [markdown]
# ## Store only what you need
#
# The notebook takes 10**8 steps and would store 1.3 GB for each car. A long rollout carries sums instead. Here each car
# takes 20,000 steps, and [`LogWrapper`] adds up the rewards of its episodes.

# %%
logged = LogWrapper(env)


@functools.partial(jax.pmap, static_broadcasted_argnums=0)
@functools.partial(jax.vmap, in_axes=(None, 0))
def mean_return(policy, key):
    """Number of finished episodes of a car, and their mean return."""

    def thousand_steps(carry, _):
        carry, (done, returns) = run_rollout(
            logged, policy, carry, 1000, params, collect=lambda step: (step.done, step.info["returned_episode_returns"])
        )
        return carry, (done.sum(), jnp.where(done, returns, 0).sum())

    _, (episodes, returns) = jax.lax.scan(thousand_steps, start_rollout(logged, key, params), length=20)
    return episodes.sum(), returns.sum() / episodes.sum()


pumped_episodes, pumped_returns = mean_return(pump, keys)
print("episodes with pump", pumped_episodes.sum(), "mean return", pumped_returns.mean())
random_episodes, random_returns = mean_return(random_policy(env), keys)
print("episodes with random actions", random_episodes.sum(), "mean return", random_returns.mean())

# %% [markdown]
# ## What to change next
#
# - A stronger engine: `params = params.replace(force=0.002)` after `make`.
# - All devices by one `jit`, without `pmap`: [`Sharded`]`(env, 8)`.
#
# [`LogWrapper`]: https://envcore.github.io/envcore/reference/wrappers.html#envcore.wrappers.LogWrapper
# [`Sharded`]: https://envcore.github.io/envcore/reference/wrappers.html#envcore.wrappers.Sharded
