"""`ParamsWrapper` and `WrapperParams`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from envcore import spaces
from envcore.errors import InvalidArgumentError
from envcore.registration import Registry
from toy import Counter, CounterParams, Fuse, Gain, GainParams

KEY = jax.random.key(4)


class Sized(Counter):
    """A counter whose spaces, observation and picture depend on params, and that insists on being given its own."""

    @property
    def default_params(self) -> CounterParams:
        return CounterParams(bonus=7.0)

    def observation_space(self, params: CounterParams) -> spaces.Box:
        return spaces.Box(0.0, self._bonus(params), (self.goal + 1,))

    def action_space(self, params: CounterParams) -> spaces.Discrete:
        return spaces.Discrete(int(self._bonus(params)))

    def observe(self, state: Any, params: CounterParams) -> jax.Array:
        return super().observe(state, params) * self._bonus(params)

    def render(self, state: Any, params: CounterParams, height: int = 256) -> jax.Array:
        return jnp.full((height, height, 3), self._bonus(params)).astype(jnp.uint8)

    def _bonus(self, params: CounterParams) -> Any:
        assert isinstance(params, CounterParams)
        return params.bonus


def test_reads_through_to_the_params_inside() -> None:
    params = Gain(Counter()).default_params
    assert (params.gain, params.bonus, params.max_steps_in_episode) == (3.0, 0.5, 10)
    with pytest.raises(AttributeError, match="'CounterParams' object has no attribute 'absent'"):
        _ = params.absent


def test_replaces_own_and_inner_params() -> None:
    params = Gain(Counter()).default_params
    changed = params.replace(gain=2.0, bonus=4.0)
    assert (changed.gain, changed.env_params) == (2.0, CounterParams(bonus=4.0))
    assert (params.gain, params.env_params) == (3.0, CounterParams())
    whole = params.replace(env_params=CounterParams(bonus=1.0, max_steps_in_episode=4), bonus=2.0)
    assert whole == GainParams(CounterParams(bonus=2.0, max_steps_in_episode=4), 3.0)
    with pytest.raises(TypeError, match="absent"):
        params.replace(absent=1.0)


def test_time_limit_inside() -> None:
    env = Gain(Gain(Fuse()))
    params = env.default_params.replace(max_steps_in_episode=1)
    _, state = env.reset(KEY, params)
    _, state, _, done, info = env.step(KEY, state, 0, params)
    assert done
    assert info["terminated"]
    assert state.time == 0


def test_spaces_observations_and_pictures_get_the_params_inside() -> None:
    env: Any = Gain(Sized())
    params = env.default_params.replace(bonus=5.0)
    for own, number in ((params, 5), (env.default_params, 7)):
        assert env.observation_space(own) == env.env.observation_space(CounterParams(bonus=number))
        assert env.action_space(own) == spaces.Discrete(number)
    obs, state = env.reset(KEY, params)
    assert obs.max() == 5
    assert (env.render(state, params, height=4) == 5).all()
    assert (env.render(state, env.default_params, height=4) == 7).all()


def test_make_hints_at_params_inside() -> None:
    registry = Registry()
    registry.register("Gain-v0", "toy:make_gain")
    with pytest.raises(InvalidArgumentError, match="It is a param"):
        registry.make("Gain-v0", bonus=1.0)
