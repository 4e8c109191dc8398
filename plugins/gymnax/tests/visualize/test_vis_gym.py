"""Pictures of classic control, and Gymnasium's states of it."""

import envcore_gymnax as gymnax
import gymnasium
import jax
import numpy as np
import pytest
from envcore_gymnax.visualize import vis_gym

# pyright: reportAttributeAccessIssue=false


@pytest.mark.parametrize("env_id", vis_gym.SUPPORTED_GYM_ENVS)
def test_states_are_gymnasiums(env_id):
    env, params = gymnax.make(env_id)
    _, state = env.reset(jax.random.key(0), params)
    original = gymnasium.make(env_id).unwrapped
    original.reset(seed=0)
    original.state = vis_gym.get_gym_state(state, env_id)
    action = original.action_space.sample()
    expected = original.step(action)[0]
    np.testing.assert_allclose(env.step(jax.random.key(0), state, action, params)[0], expected, atol=1e-5)


def test_pictures():
    class Axes:
        def set_xticks(self, ticks):
            self.ticks = ticks

        set_yticks = set_xticks

        def imshow(self, picture):
            self.set_data = lambda picture: pictures.append(picture)
            pictures.append(picture)
            return self

    env, params = gymnax.make("CartPole-v1")
    pictures, (_, state) = [], env.reset(jax.random.key(0), params)
    image = vis_gym.init_gym(Axes(), env, state, params)
    vis_gym.update_gym(image, env, state.replace(theta=np.float32(0.2)), params)
    assert [(x.shape, x.dtype) for x in pictures] == [(pictures[0].shape, np.uint8)] * 2
    assert pictures[0].shape[-1] == 3
    assert not np.array_equal(*pictures)


def test_other_environments():
    with pytest.raises(ValueError, match="Unsupported Gymnasium visualizer: 'Catch-bsuite'"):
        vis_gym.render_gym_frame("Catch-bsuite", None, None)
