"""An environment under brax's own wrappers."""

import envcore_gymnax as gymnax
import jax
import jax.numpy as jnp
import numpy as np
from brax.envs.wrappers.training import EpisodeWrapper, VmapWrapper
from envcore_gymnax.wrappers import GymnaxToBraxWrapper

# pyright: reportAttributeAccessIssue=false, reportPossiblyUnboundVariable=false


def test_for_brax():
    env, params = gymnax.make("Catch-bsuite")
    brax_env = GymnaxToBraxWrapper(env)
    assert (brax_env.action_size, brax_env.observation_size, brax_env.backend) == (3, (10, 5), "jax")
    envs = VmapWrapper(EpisodeWrapper(brax_env, episode_length=100, action_repeat=1))
    state, step = jax.jit(envs.reset)(jax.random.split(jax.random.key(0), 2)), jax.jit(envs.step)
    starts = set()
    for count in range(1, 28):
        with jax.numpy_dtype_promotion("standard"):  # brax promotes
            state = step(state, jnp.ones(2, jnp.int32))
        assert state.done.tolist() == [count % 9 == 0] * 2
        assert (np.abs(state.reward) == (count % 9 == 0)).all()
        if count % 9 == 0:
            starts |= {np.argmax(obs[0]) for obs in np.array(state.obs)}
    assert len(starts) > 1
    again = brax_env.step(brax_env.reset(jax.random.key(0), params.replace(max_steps_in_episode=1)), 1)
    assert again.done == 1
