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
import optax
import rlax
from envcore.rollout import run_rollout, start_rollout
from envcore.wrappers import Batched
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
# ## Training
#
# After each eighth of the training, the policy plays 100 new episodes. The time is that of the processor, without
# compilation.


# %%
@jax.jit
def mean_return(policy):
    test = Batched(env, 100)
    start = start_rollout(test, jax.random.key(1), params)
    play = lambda policy, obs, key: act(policy, obs)  # noqa: E731
    return run_rollout(test, play, start, 200, params, policy, lambda step: step.reward)[1].sum(axis=0).mean()


keys = jax.random.split(jax.random.key(3), (8, NUM_UPDATES // 8))
carry = jax.jit(init)(jax.random.key(0))
part = jax.jit(lambda *start: jax.lax.scan(lambda carry, key: (update(carry, key), None), *start)[0])
part = part.lower(carry, keys[0]).compile()
returns, began = [float(mean_return(carry[0][0]))], time.process_time()
for number in range(8):
    carry = jax.block_until_ready(part(carry, keys[number]))
    seconds = time.process_time() - began
    returns.append(float(mean_return(carry[0][0])))
    began += time.process_time() - began - seconds  # but for the test
    print(f"{(number + 1) * NUM_UPDATES // 8} updates, {seconds:.1f} CPU s: mean return {returns[-1]:.0f}", flush=True)

# %% [markdown]
# ## What to change next
#
# - A longer rollout: `HORIZON = 50` and `100`, against the size of the gradient.
# - Another environment whose [`differentiable`] is true, such as `Reacher-misc`.
# - PPO, which takes the environment for a black box: `envcore train ppo Pendulum-v1 --out pendulum`.
# - Gradients with respect to params: the pendulum's length that suits a policy best, by `jax.grad` of its return.
#
# [`differentiable`]: https://envcore.github.io/envcore/reference/environment.html#envcore.environment.Environment
