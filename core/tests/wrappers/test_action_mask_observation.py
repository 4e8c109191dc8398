from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import spaces
from envcore.wrappers import ActionMaskObservation, Batched, FlattenObservation, LogWrapper
from envcore_testing import check_env
from toy import Counter

KEY = jax.random.key(0)


@dataclasses.dataclass(frozen=True)
class MustCount(Counter):
    """Waiting is legal at the start only."""

    def action_mask(self, state: Any, params: Any) -> jax.Array:
        return jnp.stack([state.count == 0, True])


def test_it_observes_both() -> None:
    env = ActionMaskObservation(MustCount())
    space = env.observation_space(env.default_params)
    assert isinstance(space, spaces.Dict)
    assert space.spaces["observation"] == MustCount().observation_space(MustCount().default_params)
    assert space.spaces["action_mask"] == spaces.Box(False, True, (2,), np.bool_)
    obs, state = env.reset(KEY)
    assert sorted(obs) == ["action_mask", "observation"]
    assert obs["action_mask"].tolist() == [True, True]
    obs, state, _, _, info = env.step(KEY, state, 1)
    np.testing.assert_array_equal(obs["observation"], [0, 1, 0, 0])
    assert obs["action_mask"].tolist() == info["action_mask"].tolist() == [False, True]
    _, state, *_ = env.step(KEY, state, 1)
    obs, _, _, done, info = env.step(KEY, state, 1)
    assert done
    assert obs["action_mask"].tolist() == [True, True]  # of the next episode
    assert info["final_obs"]["action_mask"].tolist() == [False, True]


def test_it_conforms() -> None:
    check_env(ActionMaskObservation(MustCount()))


@pytest.mark.parametrize(
    "wrap",
    [
        lambda env: Batched(ActionMaskObservation(FlattenObservation(env)), 3),
        lambda env: ActionMaskObservation(LogWrapper(Batched(env, 3))),
        lambda env: LogWrapper(ActionMaskObservation(Batched(env, 3))),
    ],
)
def test_batches(wrap: Any) -> None:
    env = wrap(MustCount())
    obs, state = env.reset(KEY)
    assert obs["action_mask"].shape == (3, 2)
    obs, *_ = env.step(KEY, state, jnp.array([0, 1, 1]))
    assert obs["action_mask"].tolist() == [[True, True], [False, True], [False, True]]
    assert jax.tree.map(lambda x: x.shape, env.observation_space(env.default_params).sample(KEY)) == jax.tree.map(
        lambda x: x.shape, obs
    )


def test_an_environment_without_masks_is_refused() -> None:
    with pytest.raises(ValueError, match="Counter has no action masks: all actions are always legal"):
        ActionMaskObservation(Counter())
