"""Estimates of memory."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import pytest
from envcore_baselines.footprint import largest_bytes
from envcore_baselines.ppo import PPO, PPOConfig
from envcore_baselines.training import Run, Training, training_bytes
from envcore_runs import placement
from toy import Counter


def run_of(num_agents: int) -> Run:
    return Run("ppo", "Counter-v0", {}, {}, {}, 0, num_agents)


class State(NamedTuple):
    agent: jax.Array


class Idle:
    """Learns nothing, and counts how often it is traced."""

    num_updates, steps_per_update = 1, 1

    def __init__(self) -> None:
        self.traced: list[str] = []

    def init(self, key: jax.Array) -> State:
        self.traced.append("init")
        return State(jnp.float32(0))

    def update(self, state: State) -> tuple[State, dict[str, jax.Array]]:
        self.traced.append("update")
        return state, {"returns": jnp.float32(0), "episodes": jnp.int32(1)}


@pytest.mark.slow
def test_the_bytes_of_an_agent_are_those_of_its_compiled_training() -> None:
    """Up to a factor: what XLA does with the arrays between the operations is not known beforehand."""
    for num_envs, rollout_steps in ((4, 8), (256, 64)):
        config = PPOConfig(num_envs=num_envs, rollout_steps=rollout_steps, epochs=1, minibatches=2, hidden=(4,))
        each = PPO(Counter(), Counter().default_params, config)
        found = jax.jit(each.update).lower(jax.eval_shape(each.init, jax.random.key(0))).compile().memory_analysis()
        assert found
        measured = found.argument_size_in_bytes + found.output_size_in_bytes + found.temp_size_in_bytes
        assert 0.5 < training_bytes(each, run_of(1)) / measured < 2
        assert 0.5 < training_bytes(each, run_of(3)) / measured < 2


def test_programs_are_traced_once_for_the_estimate_and_the_training() -> None:
    learner: Any = Idle()
    # Twice the state and the largest result, which is of one or two numbers, depending on the release of JAX.
    assert training_bytes(learner, run_of(2)) in (2 * (4 + 4), 2 * (4 + 8))
    Training(learner, run_of(2), None).advance()
    assert learner.traced == ["init", "update"]


@pytest.mark.skipif(jax.device_count() < 2, reason="one device")
def test_on_several_devices_an_agent_takes_as_many_bytes() -> None:
    config = PPOConfig(num_envs=64, rollout_steps=64, epochs=1, minibatches=2, hidden=(4,))
    learner = PPO(Counter(), Counter().default_params, config)
    sharding = placement.sharding_of_some(4, 2)
    assert training_bytes(learner, run_of(4), sharding) == pytest.approx(training_bytes(learner, run_of(4)), rel=0.01)


def test_the_largest_result_is_found_in_programs_that_are_called() -> None:
    def program(x: jax.Array) -> jax.Array:
        return jax.lax.scan(lambda total, _: (total + jnp.outer(x, x).sum(), None), jnp.float32(0), length=3)[0]

    assert largest_bytes(jax.make_jaxpr(program)(jnp.zeros(10, jnp.float32))) == 400
    assert largest_bytes(jax.make_jaxpr(lambda x: x)(1.0)) == 0
