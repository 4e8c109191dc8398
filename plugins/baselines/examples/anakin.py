# %% [markdown]
# # Anakin: environment and learner in one program
#
# In the Anakin architecture ([Hessel et al., 2021](https://arxiv.org/abs/2104.06272)) the environment, the network and
# the learner are one compiled program, mapped over a batch by `vmap` and over devices by `pmap`. Gradients are averaged
# over both. This is the program of the Podracer notebook (Copyright 2021 DeepMind Technologies Limited, Apache License
# 2.0) on environments of envcore.
#
# Install what this notebook uses, in a clone of the repository:
#
# ```bash
# pip install ./core ./plugins/runs './plugins/baselines[examples]' ./packages/classic-control \
#   ./packages/bsuite ./packages/minatar ./packages/misc
# ```

# %%
import functools
from typing import Any

import envcore
import haiku as hk
import jax
import jax.numpy as jnp
import optax
import rlax
from envcore.rollout import run_rollout, start_rollout
from envcore.wrappers import Batched
from jax import lax

jax.config.update("jax_num_cpu_devices", 2)  # a CPU counts as two devices; GPUs and TPUs count as they are
print(jax.devices())

# %% [markdown]
# ## Network and learner
#
# An update is a rollout of one environment, and the gradient of its errors. It is mapped over a batch by `vmap`,
# repeated by `fori_loop`, and mapped over devices by `pmap`. What differs from the notebook:
#
# - Actions are epsilon-greedy. The notebook's greedy policy never tries an action that it undervalues. On Catch, its
#   mean return stays at 0.6 for most seeds: it always misses the ball in one of the columns.
# - `step` returns the reward and the discount of its action. The notebook's environment returns those of the action
#   before, so there `r_t` and `discount_t` leave out the first step of the rollout, and here the last.
# - The loss computes the q-values again, for the whole rollout at once. The gradient is then one matrix product, not a
#   sum over the steps: twice as fast on Space Invaders.
# - Each device has one copy of the parameters. In the notebook each member of the batch has its own, all equal.


# %%
def run_experiment(name, batch_size, rollout_len, discount, lambda_, iterations, rounds=4):
    """Train on all devices, and return the mean returns before and after each round of so many updates."""
    env, env_params = envcore.make(name)
    action_space: Any = env.action_space(env_params)
    optim = optax.adam(1e-3)

    @hk.without_apply_rng
    @hk.transform
    def network(obs):
        layers = [hk.Flatten(), hk.Linear(256), jax.nn.relu, hk.Linear(action_space.n)]
        return hk.Sequential(layers)(obs.astype(jnp.float32))

    def policy(params, obs, key):
        return rlax.epsilon_greedy(0.1).sample(key, network.apply(params, obs[None])[0])

    def loss_fn(params, steps):
        q_values = network.apply(params, steps.obs)
        td_error = rlax.td_lambda(  # compute multi-step temporal difference errors
            v_tm1=rlax.batched_index(q_values[:-1], steps.action[:-1]),  # predictions
            r_t=steps.reward[:-1],
            discount_t=discount * (1.0 - steps.done[:-1]),
            v_t=jnp.max(q_values[1:], axis=-1),  # bootstrap values
            lambda_=jnp.float32(lambda_),
        )
        return jnp.mean(td_error**2)

    def update_fn(_, carry):
        """Compute a gradient update from a single trajectory."""
        params, opt_state, start = carry
        start, steps = run_rollout(env, policy, start, rollout_len, env_params, params)
        grads = lax.pmean(jax.grad(loss_fn)(params, steps), ("batch", "devices"))
        updates, opt_state = optim.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, start

    axes = (None, None, 0)

    @functools.partial(jax.pmap, axis_name="devices", in_axes=axes, out_axes=axes)
    def learn(*carry):
        batched_update_fn = jax.vmap(update_fn, in_axes=(None, axes), out_axes=axes, axis_name="batch")
        return lax.fori_loop(0, iterations, batched_update_fn, carry)

    batch = Batched(env, 64)

    @jax.jit
    def evaluate(params):
        """The mean return of the greedy policy over the first episodes of a batch, cut after 1,000 steps."""
        _, (rewards, done) = run_rollout(
            batch,
            lambda params, obs, key: jnp.argmax(network.apply(params, obs), axis=-1),
            start_rollout(batch, jax.random.key(0), env_params),
            1000,
            env_params,
            params,
            collect=lambda step: (step.reward, step.done),
        )
        is_first = jnp.cumsum(done, axis=0) - done == 0
        return jnp.where(is_first, rewards, 0).sum(axis=0).mean()

    keys = jax.random.split(jax.random.key(42), (jax.device_count(), batch_size))
    starts = jax.vmap(jax.vmap(lambda key: start_rollout(env, key, env_params)))(keys)
    params = network.init(keys[0, 0], env.observe(jax.tree.map(lambda x: x[0, 0], starts.state), env_params)[None])
    carry, returns = (params, optim.init(params), starts), [float(evaluate(params))]
    print(f"{name}: mean return {returns[0]:.2f} before training", flush=True)
    for count in range(1, rounds + 1):
        carry = learn(*carry)
        returns.append(float(evaluate(carry[0])))
        frames = count * iterations * keys.size * rollout_len
        print(f"{name}: mean return {returns[-1]:.2f} after {frames:,} frames", flush=True)
    return returns


# %% [markdown]
# Catch takes as many frames as in the notebook, and a larger step size.

# %%
catch_returns = run_experiment("Catch-bsuite", batch_size=64, rollout_len=16, discount=1.0, lambda_=0.99, iterations=50)

# %% [markdown]
# Space Invaders is larger: its rollouts are longer and the batch is smaller, so that fewer gradients are averaged.

# %%
SPACE_INVADERS_ITERATIONS = 200

invaders_returns = run_experiment(
    "SpaceInvaders-MinAtar", 8, rollout_len=128, discount=0.99, lambda_=0.9, iterations=SPACE_INVADERS_ITERATIONS
)

# %% [markdown]
# ## What to change next
#
# - Another game: `"Breakout-MinAtar"` with the settings of Space Invaders.
# - Real devices: on a machine with GPUs or TPUs the program takes all of them as it is.
# - Less code: [`train`] is a training in one call, with PPO and other algorithms.
#
# [`train`]: https://envcore.github.io/envcore/reference/agents.html#envcore_baselines.train
