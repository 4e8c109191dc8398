"""The viewer's `Visualizer`, as gymnax calls it."""

import envcore_gymnax as gymnax
import jax
from envcore_gymnax.visualize import Visualizer, visualizer

# pyright: reportAttributeAccessIssue=false, reportPossiblyUnboundVariable=false


def test_an_animation(tmp_path):
    env, params = gymnax.make("Breakout-MinAtar")
    key, states, rewards = jax.random.key(0), [], [0.0]
    _, state = env.reset(key, params)
    for _ in range(5):
        states.append(state)
        _, state, reward, _, _ = env.step(key, state, 1, params)
        rewards.append(rewards[-1] + float(reward))
    assert visualizer.Visualizer is Visualizer
    Visualizer(env, params, states, rewards[1:]).animate(str(tmp_path / "a.gif"))
    assert (tmp_path / "a.gif").stat().st_size > 1000
