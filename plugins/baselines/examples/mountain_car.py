# %% [markdown]
# # MountainCar on all devices
#
# A batch of cars on each device: `pmap(vmap(rollout))`, where a rollout is one `fori_loop`. This follows the notebook
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
NUM_STEPS = 1000


def random_action(obs, key):
    """Push left, do nothing or push right."""
    return env.action_space(params).sample(key)


def pump(obs, key):
    """Push in the direction of motion, which adds energy on every step."""
    velocity = obs[1]
    return jnp.where(velocity < 0, 0, 2)


@functools.partial(jax.pmap, static_broadcasted_argnums=0)
def store_steps(policy, keys):
    """Observations, rewards and ends of `NUM_STEPS` steps for each key."""

    def rollout(key):
        key_reset, key_steps = jax.random.split(key)
        obs, state = env.reset(key_reset, params)

        def body(i, val):
            obs, state, all_obs, all_reward, all_done = val
            key_action, key_step = jax.random.split(jax.random.fold_in(key_steps, i))
            action = policy(obs, key_action)
            obs, state, reward, done, info = env.step(key_step, state, action, params)
            all_obs = all_obs.at[i].set(info["final_obs"])
            all_reward = all_reward.at[i].set(reward)
            all_done = all_done.at[i].set(done)
            return obs, state, all_obs, all_reward, all_done

        all_obs = jnp.zeros((NUM_STEPS, 2))
        all_reward = jnp.zeros(NUM_STEPS)
        all_done = jnp.zeros(NUM_STEPS, bool)
        val = (obs, state, all_obs, all_reward, all_done)
        *_, all_obs, all_reward, all_done = jax.lax.fori_loop(0, NUM_STEPS, body, val)
        return all_obs, all_reward, all_done

    return jax.vmap(rollout)(keys)


# %%
num_devices = jax.device_count()
cars_per_device = 4
keys = jax.random.split(jax.random.key(0), (num_devices, cars_per_device))

all_obs, all_reward, all_done = store_steps(random_action, keys)
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
# takes 20,000 steps.

# %%
LONG = 20_000


@functools.partial(jax.pmap, static_broadcasted_argnums=0)
def mean_return(policy, keys):
    """Number of finished episodes and their mean return, for each key."""

    def rollout(key):
        key_reset, key_steps = jax.random.split(key)
        obs, state = env.reset(key_reset, params)

        def body(i, val):
            obs, state, current, total, episodes = val
            key_action, key_step = jax.random.split(jax.random.fold_in(key_steps, i))
            obs, state, reward, done, _ = env.step(key_step, state, policy(obs, key_action), params)
            current += reward
            total += jnp.where(done, current, 0.0)
            return obs, state, jnp.where(done, 0.0, current), total, episodes + done

        val = (obs, state, jnp.float32(0), jnp.float32(0), jnp.int32(0))
        *_, total, episodes = jax.lax.fori_loop(0, LONG, body, val)
        return episodes, total / episodes

    return jax.vmap(rollout)(keys)


# %%
pumped_episodes, pumped_returns = mean_return(pump, keys)
print("episodes with pump", pumped_episodes.sum(), "mean return", pumped_returns.mean())
random_episodes, random_returns = mean_return(random_action, keys)
print("episodes with random actions", random_episodes.sum(), "mean return", random_returns.mean())

# %% [markdown]
# ## What to change next
#
# - Count the steps to the goal: carry the number of steps since the last `done` beside the rewards.
# - A stronger engine: `params = params.replace(force=0.002)` after `make`.
# - The same with less code: [`run_rollout`] over [`Sharded`]`(env, 8)`, with `collect=lambda step: step.reward`.
#
# [`run_rollout`]: https://envcore.github.io/envcore/reference/rollout.html#envcore.rollout.run_rollout
# [`Sharded`]: https://envcore.github.io/envcore/reference/wrappers.html#envcore.wrappers.Sharded
