from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import random, spaces, wrappers
from envcore.environment import NO_TIME_LIMIT, Environment, EnvState, computed
from envcore.errors import EnvironmentDefinitionError, InvalidParamsError, NoPictureError
from flax import struct
from toy import Counter, CounterParams, Deck, Fuse, Spring, Tally

KEY = jax.random.key(0)


def play(env: Environment, actions: list[int], params: Any = None) -> list[Any]:
    """What each step returns; the first state is that of `reset`."""
    _, state = env.reset(KEY, params)
    steps = []
    for i, action in enumerate(actions):
        step = env.step(jax.random.fold_in(KEY, i), state, action, params)
        state = step[1]
        steps.append(step)
    return steps


def flags(step: Any) -> tuple[bool, bool, bool, float]:
    *_, done, info = step
    return bool(done), bool(info["terminated"]), bool(info["truncated"]), float(info["discount"])


GOING_ON, TERMINATED = (False, False, False, 1.0), (True, True, False, 0.0)
TRUNCATED, BOTH = (True, False, True, 1.0), (True, True, True, 0.0)


class TestTime:
    def test_it_counts_the_steps_and_restarts_with_the_episode(self) -> None:
        steps = play(Counter(), [0, 1, 1, 1, 0])
        assert [int(step[1].time) for step in steps] == [1, 2, 3, 0, 1]

    def test_transition_sees_the_steps_before(self) -> None:
        class PaidByTime(Counter):
            def transition(self, state: Any, action: Any, draws: Any, params: Any) -> Any:
                return state, state.time, False

        assert [float(step[2]) for step in play(PaidByTime(), [0, 0, 0])] == [0, 1, 2]

    def test_what_transition_does_to_it_is_overridden(self) -> None:
        class Meddler(Counter):
            def transition(self, state: Any, action: Any, draws: Any, params: Any) -> Any:
                return state.replace(time=state.time + 7), 0.0, False

        assert int(play(Meddler(), [0])[0][1].time) == 1


class TestTheEndOfAnEpisode:
    def test_termination(self) -> None:
        assert [flags(step) for step in play(Counter(), [1, 1, 1, 1])] == [GOING_ON, GOING_ON, TERMINATED, GOING_ON]

    @pytest.mark.parametrize("limit", [1, 2, 5])
    def test_the_time_limit_truncates_exactly(self, limit: int) -> None:
        steps = play(Counter(), [0] * 2 * limit, CounterParams(max_steps_in_episode=limit))
        assert [flags(step) for step in steps] == ([GOING_ON] * (limit - 1) + [TRUNCATED]) * 2

    def test_both_flags_at_once(self) -> None:
        assert flags(play(Counter(), [1, 1, 1], CounterParams(max_steps_in_episode=3))[-1]) == BOTH

    def test_a_time_limit_that_terminates(self) -> None:
        steps = play(Fuse(), [0, 0, 1, 1, 1], CounterParams(max_steps_in_episode=2))
        assert [flags(step) for step in steps] == [GOING_ON, TERMINATED, GOING_ON, TERMINATED, GOING_ON]

    @pytest.mark.parametrize(
        ("limit", "expected"), [(NO_TIME_LIMIT, False), (10, True), (np.array([NO_TIME_LIMIT, 10]), True)]
    )
    def test_whether_a_step_may_be_truncated(self, limit: Any, expected: bool) -> None:
        assert Counter().may_truncate(CounterParams(max_steps_in_episode=limit)) == expected

    def test_final_obs_is_the_observation_before_the_reset(self) -> None:
        *_, before, end = play(Counter(), [1, 1, 1])
        assert before[0].argmax() == before[-1]["final_obs"].argmax() == 2
        assert (end[0].argmax(), end[-1]["final_obs"].argmax()) == (0, 3)

    def test_the_next_episode_is_that_of_reset_with_the_reset_key(self) -> None:
        env, params = Spring(), Spring().default_params.replace(max_steps_in_episode=1)
        _, state = env.reset(KEY, params)
        obs, state, *_ = env.step(KEY, state, np.zeros(1), params)
        fresh_obs, fresh = env.reset(random.reset_key(KEY), params)
        np.testing.assert_allclose(obs, fresh_obs, rtol=1e-6)
        np.testing.assert_allclose(state.position, fresh.position, rtol=1e-6)

    def test_what_restart_puts_back_survives(self) -> None:
        steps = play(Tally(), [1, 1, 1] * 2 + [1])
        assert [int(step[1].episodes) for step in steps] == [0, 0, 1, 1, 1, 2, 2]
        assert [int(step[1].count) for step in steps] == [1, 2, 0, 1, 2, 0, 1]

    def test_step_env_does_not_reset(self) -> None:
        env, params = Counter(), CounterParams(max_steps_in_episode=2)
        _, state = env.reset(KEY, params)
        for time, terminated, truncated in ((1, False, False), (2, False, True), (3, True, True), (4, True, True)):
            obs, state, reward, ended, info = env.step_env(KEY, state, 1, params)
            assert (int(state.time), bool(ended), bool(info["truncated"])) == (time, terminated, truncated)
            assert int(obs.argmax()) == int(state.count) == min(time, 3)
            assert float(reward) == 0.5
            np.testing.assert_array_equal(info["final_obs"], obs)


class TestInfo:
    def test_the_author_s_entries_are_added_to_the_base_class_s(self) -> None:
        entries = {"terminated", "truncated", "discount", "final_obs", "waited"}
        for action, step in zip((0, 1), play(Counter(), [0, 1]), strict=True):
            assert set(step[-1]) == entries
            assert bool(step[-1]["waited"]) == (action == 0)

    def test_the_base_class_s_names_are_reserved(self) -> None:
        class Clash(Counter):
            def transition(self, state: Any, action: Any, draws: Any, params: Any) -> Any:
                return state, 0.0, False, {"discount": 1}

        with pytest.raises(EnvironmentDefinitionError, match=r"info\['discount'\], which envcore sets"):
            play(Clash(), [0])


class TestTypes:
    def test_python_numbers_become_the_contract_s_types(self) -> None:
        class Plain(Counter):
            def transition(self, state: Any, action: Any, draws: Any, params: Any) -> Any:
                return state.replace(count=1), 2, False, {"share": 0.5}

        _, state, reward, done, info = play(Plain(), [0])[0]
        found = {"count": state.count, "time": state.time, "reward": reward, "done": done, **info}
        assert {name: str(x.dtype) for name, x in found.items()} == {
            "count": "int32",
            "time": "int32",
            "reward": "float32",
            "done": "bool",
            "terminated": "bool",
            "truncated": "bool",
            "discount": "float32",
            "final_obs": "float32",
            "share": "float32",
        }
        assert not any(x.weak_type for x in found.values())

    @pytest.mark.parametrize(
        ("returned", "message"),
        [
            (lambda s: (s, jnp.zeros(2), False), r"transition's reward must have shape \(\), got \(2,\)"),
            (lambda s: (s.replace(count=0.5), 0.0, False), r"transition's state\.count must be int32, got float"),
            (lambda s: (EnvState(), 0.0, False), r"transition's state must be CounterState, got EnvState"),
            (lambda s: (s, 0.0), r"transition must return \(state, reward, terminated"),
            (lambda s: (s, 0.0, False, "info"), r"transition must return a dict as the fourth value, got 'info'"),
        ],
    )
    def test_anything_else_is_the_author_s_error(self, returned: Any, message: str) -> None:
        class Wrong(Counter):
            def transition(self, state: Any, action: Any, draws: Any, params: Any) -> Any:
                return returned(state)

        with pytest.raises(EnvironmentDefinitionError, match=f"^.*Wrong breaks the contract: {message}"):
            play(Wrong(), [0])

    def test_the_message_has_the_line_of_the_method(self) -> None:
        class Wrong(Counter):
            def transition(self, state: Any, action: Any, draws: Any, params: Any) -> Any:
                return state

        line = Wrong.transition.__code__.co_firstlineno
        with pytest.raises(EnvironmentDefinitionError, match=rf"\(transition is at .*test_environment\.py:{line}\)"):
            play(Wrong(), [0])

    def test_restart_has_to_keep_the_types(self) -> None:
        class Wrong(Tally):
            def restart(self, key: Any, done: Any, state: Any, params: Any) -> Any:
                return super().restart(key, done, state, params).replace(episodes=0.5)

        with pytest.raises(EnvironmentDefinitionError, match=r"restart's state\.episodes must be int32, got float"):
            play(Wrong(), [0])


class TestDefaults:
    def test_a_class_attribute_may_depend_on_fields(self) -> None:
        @dataclasses.dataclass(frozen=True)
        class Named(Counter):
            action_names = computed(lambda self: ("wait", f"count to {self.goal}"))

        assert Named(goal=5).action_names == ("wait", "count to 5")
        assert wrappers.LogWrapper(Named()).action_names == ("wait", "count to 3")

    def test_the_state_space_has_the_state_s_types_and_no_bounds_but_for_the_time(self) -> None:
        @struct.dataclass
        class Inner:
            flag: Any

        @struct.dataclass
        class State(EnvState):
            inner: Any
            pair: Any
            names: Any

        class Nested(Counter):
            def state_space(self, params: Any) -> spaces.Dict:
                return Environment.state_space(self, params)

            def init_state(self, draws: Any, params: Any) -> Any:
                pair, names = (jnp.uint8(1), jnp.zeros(2)), {"a": jnp.int32(0)}
                return State(inner=Inner(flag=jnp.array(True)), pair=pair, names=names)

        assert Nested().state_space(Nested().default_params) == spaces.Dict(
            {
                "inner": spaces.Dict({"flag": spaces.Box(False, True, (), jnp.bool_)}),
                "pair": spaces.Tuple([spaces.Box(0, 255, (), jnp.uint8), spaces.Box(-np.inf, np.inf, (2,))]),
                "names": spaces.Dict({"a": spaces.Box(-(2**31), 2**31 - 1, (), jnp.int32)}),
                "time": spaces.Box(0, 2**31 - 1, (), jnp.int32),
            }
        )
        assert Nested().state_space(Nested().default_params).contains(Nested().init_state(KEY, None))

    def test_an_environment_without_a_picture_says_what_to_do(self) -> None:
        with pytest.raises(NoPictureError, match=r"^Deck cannot be rendered: its class Deck has to implement render"):
            Deck().render(Deck().reset(KEY)[1], Deck().default_params)


class TestParams:
    @pytest.mark.parametrize("make", [CounterParams, CounterParams().replace])
    def test_an_unknown_name_suggests_the_nearest(self, make: Any) -> None:
        expected = "CounterParams has no param 'bonsu'; its params: max_steps_in_episode, bonus. Did you mean 'bonus'?"
        with pytest.raises(InvalidParamsError) as error:
            make(bonus=1.0, bonsu=2.0)
        assert str(error.value) == expected


class TestGradients:
    def test_they_stop_at_a_reset(self) -> None:
        env, params = Spring(), Spring().default_params.replace(max_steps_in_episode=1)
        _, state = env.reset(KEY)

        def positions(action: jax.Array) -> jax.Array:
            obs, *_, info = env.step(KEY, state, action, params)
            return jnp.stack([obs[0], info["final_obs"][0]])

        np.testing.assert_allclose(jax.jacobian(positions)(jnp.zeros(1))[:, 0], [0, 0.01], rtol=1e-5)
