# %% [markdown]
# # Learning by the gradient through `step`
#
# PPO treats the environment as a black box: from the rewards of random actions it estimates which way to change the
# policy. The rules of Pendulum are differentiable, as `env.differentiable` says. So `jax.grad` can follow a reward back
# through `step` to the actions, and to the weights of the policy that chose them. No action has to be random.
#
# Gradients through a whole episode explode. Therefore this follows SHAC ([Xu et al.,
# 2022](https://arxiv.org/abs/2204.07137)): a rollout has 25 steps, and a critic stands for the rest of the episode.
#
# Install what this notebook uses, in a clone of the repository:
#
# ```bash
# pip install ./core ./plugins/runs './plugins/baselines[examples]' ./packages/classic-control \
#   ./packages/bsuite ./packages/minatar ./packages/misc
# ```

# %%
import functools
import time
from typing import Any

import envcore
import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import optax
import rlax
from envcore.wrappers import Batched
from envcore_baselines import algorithms
from envcore_baselines.ppo import PPO
from flax import linen as nn

NUM_ENVS = 16
HORIZON = 25  # divides the 200 steps of an episode: only the last step of a rollout can end one
NUM_UPDATES = 480
DISCOUNT = 0.95

env, params = envcore.make("Pendulum-v1")
batch = Batched(env, NUM_ENVS)


class MLP(nn.Module):
    @nn.compact
    def __call__(self, obs):
        hidden = obs / jnp.array([1.0, 1.0, 8.0])  # the velocity is up to 8 rad/s
        for _ in range(2):
            hidden = nn.tanh(nn.Dense(64)(hidden))
        return nn.Dense(1)(hidden)


network = MLP()
optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-2))


def output(weights, obs) -> Any:
    return network.apply(weights, obs)


def act(policy, obs):
    return params.max_torque * nn.tanh(output(policy, obs))


def value(critic, obs):
    return output(critic, obs)[..., 0]


# %% [markdown]
# ## An update
#
# The loss is minus the discounted rewards of a rollout, and minus the critic's value of what was observed last. That is
# `final_obs`, for `obs` may be the next episode's. The gradient flows through the critic, and back through all 25
# steps. Then the critic learns TD(lambda) targets of the same steps.


# %%
def policy_loss(policy, target_critic, key, start):
    def step(carry, key):
        obs, state = carry
        next_obs, state, reward, _, info = batch.step(key, state, act(policy, obs), params)
        return (next_obs, state), (obs, 0.1 * reward, info["final_obs"])  # smaller rewards are easier for the critic

    end, (obs, rewards, final_obs) = jax.lax.scan(step, start, jax.random.split(key, HORIZON))
    returns = DISCOUNT ** jnp.arange(HORIZON) @ rewards + DISCOUNT**HORIZON * value(target_critic, final_obs[-1])
    return -returns.mean(), (end, obs, rewards, value(target_critic, final_obs))


def critic_loss(critic, obs, targets):
    return ((value(critic, obs) - targets) ** 2).mean()


def descend(gradient, weights, moments):
    updates, moments = optimizer.update(gradient, moments)
    return optax.apply_updates(weights, updates), moments


def update(carry, key):
    policy, critic, target_critic, start = carry
    gradient, (end, obs, rewards, values) = jax.grad(policy_loss, has_aux=True)(policy[0], target_critic, key, start)
    td_lambda = functools.partial(rlax.lambda_returns, discount_t=jnp.full(HORIZON, DISCOUNT), lambda_=0.95)
    targets = jax.vmap(lambda r_t, v_t: td_lambda(r_t, v_t=v_t), in_axes=1, out_axes=1)(rewards, values)
    for _ in range(8):
        critic = descend(jax.grad(critic_loss)(critic[0], obs, targets), *critic)
    return descend(gradient, *policy), critic, optax.incremental_update(critic[0], target_critic, 0.2), end


def init(key):
    """Policy and critic with their optimizers, the critic that gives targets, and the pendula."""
    key_policy, key_critic, key_reset = jax.random.split(key, 3)
    start = batch.reset(key_reset, params)
    policy, critic = network.init(key_policy, start[0]), network.init(key_critic, start[0])
    return (policy, optimizer.init(policy)), (critic, optimizer.init(critic)), critic, start


# %% [markdown]
# ## Beside PPO
#
# PPO has the settings that were tuned for Pendulum, with fewer steps. Both train three agents side by side. After each
# part of a training, the agents play 100 new episodes with their most probable actions. The time is that of the
# processor for the learning of one agent, without compilation.


# %%
def mean_return(act, agent):
    """Of 100 whole episodes."""
    test = Batched(env, 100)

    def step(carry, key):
        obs, state = carry
        obs, state, reward, *_ = test.step(key, state, act(agent, obs), params)
        return (obs, state), reward

    start = test.reset(jax.random.key(1), params)
    return jax.lax.scan(step, start, jax.random.split(jax.random.key(2), 200))[1].sum(axis=0).mean()


def learn(name, init, update, act, num_updates, agents=3, parts=24):
    """Seconds of an agent and mean return of the agents after each part of a training."""

    def updates(states, key):
        keys = jax.random.split(key, num_updates // parts)
        return jax.lax.scan(lambda states, key: (jax.vmap(update, (0, None))(states, key), None), states, keys)[0]

    states = jax.jit(jax.vmap(init))(jax.random.split(jax.random.key(0), agents))
    keys = jax.random.split(jax.random.key(3), parts)
    part = jax.jit(updates).lower(states, keys[0]).compile()
    evaluate = jax.jit(jax.vmap(functools.partial(mean_return, act)))
    seconds, returns = [0.0], [evaluate(states[0]).mean()]
    for key in keys:
        began = time.process_time()
        states = jax.block_until_ready(part(states, key))
        seconds.append(seconds[-1] + (time.process_time() - began) / agents)
        returns.append(evaluate(states[0]).mean())
    first = next((second for second, each in zip(seconds, returns, strict=True) if each >= -200), np.nan)
    print(f"{name}: -200 reached after {first:.1f} CPU s, {returns[-1]:.0f} after {seconds[-1]:.1f} CPU s", flush=True)
    return np.array(seconds), np.array(returns)


gradient_curve = learn("gradient", init, update, lambda agent, obs: act(agent[0], obs), NUM_UPDATES)

# %%
PPO_STEPS = 300_000

ppo = PPO(env, params, algorithms.config("ppo", "Pendulum-v1", {"total_steps": PPO_STEPS}))


def ppo_act(agent, obs):
    return jax.vmap(lambda obs: ppo.act(agent, (), obs, jax.random.key(0), greedy=True)[0])(obs)


ppo_curve = learn("PPO", ppo.init, lambda state, _: ppo.update(state)[0], ppo_act, ppo.num_updates)

# %%
figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
for name, curve in (("gradient through step", gradient_curve), ("PPO", ppo_curve)):
    axes.plot(*curve, label=name)
axes.set(xlabel="CPU seconds of an agent", ylabel="return of an episode", title="Pendulum-v1, most probable actions")
axes.legend()
plt.show()

# %% [markdown]
# ## What to change next
#
# - A longer rollout: `HORIZON = 50` and `100`, against the size of the gradient.
# - Another environment whose [`differentiable`] is true, such as `Reacher-misc`.
# - Gradients with respect to params: the pendulum's length that suits a policy best, by `jax.grad` of its return.
#
# [`differentiable`]: https://envcore.github.io/envcore/reference/environment.html#envcore.environment.Environment
