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
import time
from typing import Any, NamedTuple

import envcore
import haiku as hk
import jax
import jax.numpy as jnp
import optax
import rlax
from envcore.rollout import run_rollout, start_rollout
from envcore.wrappers import Batched
from jax import lax, random

jax.config.update("jax_num_cpu_devices", 2)  # a CPU counts as two devices; GPUs and TPUs count as they are
print(jax.devices())


# %% [markdown]
# ## Network and learner
#
# The functions have the notebook's names and structure, with these differences:
#
# - Actions are epsilon-greedy. The notebook's greedy policy never tries an action that it undervalues. On Catch, its
#   mean return stays at 0.6 for most seeds: it always misses the ball in one of the columns.
# - `step` returns the reward and the discount of its action. The notebook's environment returns those of the action
#   before, so there `r_t` and `discount_t` leave out the first step of the rollout, and here the last.
# - The loss computes the q-values again, for the whole rollout at once. The gradient is then one matrix product, not a
#   sum over the steps: twice as fast on Space Invaders.
# - Each device has one copy of the parameters. In the notebook each member of the batch has its own, all equal.


# %%
class TimeStep(NamedTuple):
    obs: Any
    action: Any
    discount: Any
    reward: Any


def get_network_fn(num_outputs):
    """Define a fully connected multi-layer haiku network."""

    def network_fn(obs):
        network = hk.Sequential([hk.Flatten(), hk.Linear(256), jax.nn.relu, hk.Linear(num_outputs)])
        return network(obs.astype(jnp.float32))

    return hk.without_apply_rng(hk.transform(network_fn))


def get_learner_fn(
    env, env_params, forward_pass, opt_update, rollout_len, agent_discount, lambda_, epsilon, iterations
):
    """Define the minimal unit of computation in Anakin."""

    def loss_fn(params, outer_rng, env_state):
        """Compute the loss on a single trajectory."""

        def step_fn(env_state, rng):
            rng_action, rng_step = random.split(rng)
            obs = env.observe(env_state, env_params)
            q_values = forward_pass(params, obs[None])[0]
            action = rlax.epsilon_greedy(epsilon).sample(rng_action, q_values)
            _, env_state, reward, done, _ = env.step(rng_step, env_state, action, env_params)
            return env_state, TimeStep(obs=obs, action=action, discount=1.0 - done, reward=reward)

        step_rngs = random.split(outer_rng, rollout_len)
        env_state, rollout = lax.scan(step_fn, env_state, step_rngs)
        q_values = forward_pass(params, rollout.obs)
        td_error = rlax.td_lambda(  # compute multi-step temporal difference errors
            v_tm1=rlax.batched_index(q_values[:-1], rollout.action[:-1]),  # predictions
            r_t=rollout.reward[:-1],  # rewards
            discount_t=agent_discount * rollout.discount[:-1],  # discounts
            v_t=jnp.max(q_values[1:], axis=-1),  # bootstrap values
            lambda_=jnp.float32(lambda_),  # mixing hyper-parameter lambda
        )
        return jnp.mean(td_error**2), env_state

    def update_fn(params, opt_state, rng, env_state):
        """Compute a gradient update from a single trajectory."""
        rng, loss_rng = random.split(rng)
        grads, env_state = jax.grad(loss_fn, has_aux=True)(params, loss_rng, env_state)
        grads = lax.pmean(grads, axis_name="j")  # average over the batch
        grads = lax.pmean(grads, axis_name="i")  # average over the devices
        updates, opt_state = opt_update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, rng, env_state

    def learner_fn(params, opt_state, rngs, env_states):
        """Vectorize and repeat the update."""
        axes = (None, None, 0, 0)
        batched_update_fn = jax.vmap(update_fn, in_axes=axes, out_axes=axes, axis_name="j")

        def iterate_fn(_, val):  # repeat many times without going back to Python
            return batched_update_fn(*val)

        return lax.fori_loop(0, iterations, iterate_fn, (params, opt_state, rngs, env_states))

    return learner_fn


# %% [markdown]
# ## Training


# %%
def get_evaluate_fn(env, env_params, forward_pass, num_episodes=64):
    """Define the mean return of the greedy policy over the first episodes of a batch, cut after 1,000 steps."""
    batch = Batched(env, num_episodes)
    start = start_rollout(batch, random.key(0), env_params)

    def greedy(params, obs, key):
        return jnp.argmax(forward_pass(params, obs), axis=-1)

    @jax.jit
    def mean_return(params):
        _, (rewards, done) = run_rollout(
            batch, greedy, start, 1000, env_params, params, collect=lambda step: (step.reward, step.done)
        )
        is_first = jnp.cumsum(done, axis=0) - done == 0
        return jnp.where(is_first, rewards, 0).sum(axis=0).mean()

    return lambda params: float(mean_return(params))


def run_experiment(
    name, batch_size, rollout_len, step_size, agent_discount, lambda_, epsilon, iterations, seed, rounds=4
):
    """Train on all devices; return the parameters and the mean returns before and after each round of `iterations`."""
    env, env_params = envcore.make(name)
    num_devices = len(jax.devices())
    action_space: Any = env.action_space(env_params)
    network = get_network_fn(action_space.n)
    optim = optax.adam(step_size)

    rng_net, rng_env, rng_step = random.split(random.key(seed), 3)
    env_rngs = random.split(rng_env, (num_devices, batch_size))
    obs, env_states = jax.vmap(jax.vmap(env.reset, (0, None)), (0, None))(env_rngs, env_params)
    step_rngs = random.split(rng_step, (num_devices, batch_size))
    initial_params = network.init(rng_net, obs[0])
    params, opt_state = jax.tree.map(
        lambda x: jnp.broadcast_to(x, (num_devices, *jnp.shape(x))), (initial_params, optim.init(initial_params))
    )

    evaluate = get_evaluate_fn(env, env_params, network.apply)
    returns = [evaluate(initial_params)]
    print(f"{name}: mean return {returns[0]:.2f} before training", flush=True)

    learn = get_learner_fn(
        env,
        env_params,
        network.apply,
        optim.update,
        rollout_len=rollout_len,
        agent_discount=agent_discount,
        lambda_=lambda_,
        epsilon=epsilon,
        iterations=iterations,
    )
    learn = jax.pmap(learn, axis_name="i")  # replicate over the devices
    learn = learn.lower(params, opt_state, step_rngs, env_states).compile()

    num_frames = num_devices * iterations * rollout_len * batch_size
    for count in range(1, rounds + 1):
        start = time.perf_counter()
        carry = learn(params, opt_state, step_rngs, env_states)
        params, opt_state, step_rngs, env_states = jax.block_until_ready(carry)
        speed = num_frames / (time.perf_counter() - start)
        returns.append(evaluate(jax.tree.map(lambda x: x[0], params)))
        print(
            f"{name}: mean return {returns[-1]:.2f} after {count * num_frames:,} frames, {speed:,.0f} frames/s",
            flush=True,
        )
    return jax.tree.map(lambda x: x[0], params), returns


# %% [markdown]
# Catch takes as many frames as in the notebook, and a larger step size.

# %%
print("Running on", len(jax.devices()), "devices.")
catch_params, catch_returns = run_experiment(
    "Catch-bsuite",
    batch_size=64,
    rollout_len=16,
    step_size=1e-3,
    agent_discount=1.0,
    lambda_=0.99,
    epsilon=0.1,
    iterations=50,
    seed=42,
)

# %% [markdown]
# Space Invaders is larger: its rollouts are longer and the batch is smaller, so that fewer gradients are averaged.

# %%
SPACE_INVADERS_ITERATIONS = 200

invaders_params, invaders_returns = run_experiment(
    "SpaceInvaders-MinAtar",
    batch_size=8,
    rollout_len=128,
    step_size=1e-3,
    agent_discount=0.99,
    lambda_=0.9,
    epsilon=0.1,
    iterations=SPACE_INVADERS_ITERATIONS,
    seed=42,
)

# %% [markdown]
# ## What to change next
#
# - Another game: `"Breakout-MinAtar"` with the settings of Space Invaders.
# - Real devices: on a machine with GPUs or TPUs the program takes all of them as it is.
# - Less code: [`train`] is a training in one call, with PPO and other algorithms.
#
# [`train`]: https://envcore.github.io/envcore/reference/agents.html#envcore_baselines.train
