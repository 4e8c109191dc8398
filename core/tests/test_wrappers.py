"""Every wrapper alone, and all of them in many orders."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import pickle
import random as python_random
from typing import Any

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import random, spaces, wrappers
from envcore.wrappers.actions import StickyDraws
from envcore_testing.numerics import numerics
from envcore_testing.trees import take
from toy import Counter, Deck, Spring, SpringDraws

KEY = jax.random.key(3)


def trace(env: Any, num_steps: int = 12, key: jax.Array = KEY, params: Any = None) -> Any:
    """Observations, actions, rewards, dones and infos of a random rollout, stacked."""
    key, key_reset = random.split(key)
    obs, state = env.reset(key_reset, params)

    def body(carry: Any, key: jax.Array) -> Any:
        key_act, key_step = random.split(key)
        action = env.action_space(params).sample(key_act)
        obs, state, reward, done, info = env.step(key_step, carry[1], action, params)
        return (obs, state), (obs, action, reward, done, info)

    return obs, jax.lax.scan(body, (obs, state), random.split(key, num_steps))[1]


LOOSE: Any = wrappers
"""For arguments of types that a type checker refuses."""

ALL = {
    "NoAutoReset": wrappers.NoAutoReset,
    "CheckActions": wrappers.CheckActions,
    "LogWrapper": wrappers.LogWrapper,
    "FlattenObservation": wrappers.FlattenObservation,
    "StickyAction": wrappers.StickyAction,
    "ClipAction": wrappers.ClipAction,
    "RescaleAction": wrappers.RescaleAction,
    "FrameStack": wrappers.FrameStack,
    "NormalizeObservation": wrappers.NormalizeObservation,
    "NormalizeReward": wrappers.NormalizeReward,
    "PixelObservation": lambda env: wrappers.PixelObservation(env, (6, 9)),
    "Batched": lambda env: wrappers.Batched(env, 3),
}


@pytest.mark.parametrize("name", ALL)
def test_copies_pickles_and_equals(name: str) -> None:
    env = ALL[name](Spring())
    assert copy.deepcopy(env) == env == pickle.loads(pickle.dumps(env))
    assert hash(ALL[name](Spring())) == hash(env)
    assert env.unwrapped == Spring()
    assert env.name == "Spring"


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 8))])
def test_any_order(seed: int) -> None:
    names = python_random.Random(seed).sample(list(ALL), len(ALL))
    if names.index("ClipAction") < names.index("RescaleAction"):  # rescaling needs the bounds that clipping hides
        names.remove("ClipAction")
    env: Any = Spring()
    for name in names:
        env = ALL[name](env)
    first, (obs, _, reward, done, info) = jax.jit(lambda: trace(env))()
    assert env.batch_shape == (3,)
    assert first.shape == obs.shape[1:] == env.observation_space(env.default_params).shape
    assert reward.shape == done.shape == (12, 3)
    assert bool(jax.vmap(env.observation_space(env.default_params).contains)(obs).all())
    assert info["returned_episode_returns"].shape == (12, 3)
    assert np.isfinite(np.asarray(obs)).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_vmap_equals_a_loop(name: str) -> None:
    env = ALL[name](Spring())
    keys = jax.random.split(KEY, 3)
    single = jax.jit(lambda key: trace(env, key=key))
    batched = jax.jit(jax.vmap(single))(keys)
    for i in range(3):
        chex.assert_trees_all_close(take(batched, i), single(keys[i]), rtol=1e-5, atol=1e-5)


def test_no_auto_reset_stays() -> None:
    env = wrappers.NoAutoReset(Counter())
    params = env.default_params.replace(max_steps_in_episode=3)
    _, (_, _, _, done, _) = trace(env, 5, params=params)
    assert done.tolist()[2:] == [True, True, True]


def test_log_wrapper_counts_by_hand() -> None:
    env = wrappers.LogWrapper(Spring())
    _, (_, _, reward, done, info) = trace(env, 60)
    running, length, last, last_length, valid = 0.0, 0, 0.0, 0, False
    for t in range(60):
        running, length = running + float(reward[t]), length + 1
        if done[t]:
            last, last_length, valid, running, length = running, length, True, 0.0, 0
        assert bool(info["returned_episode"][t]) == bool(done[t])
        assert bool(info["returned_episode_valid"][t]) == valid
        assert int(info["returned_episode_lengths"][t]) == last_length
        np.testing.assert_allclose(info["returned_episode_returns"][t], last, rtol=1e-5)
    assert valid


def test_clip_action_clips() -> None:
    env, inner = wrappers.ClipAction(Spring()), Spring()
    _, state = env.reset(KEY)
    far = jnp.full(env.action_space(env.default_params).shape, 100.0)
    high = jnp.asarray(inner.action_space(inner.default_params).high)
    assert bool(env.action_space(env.default_params).contains(far))
    chex.assert_trees_all_equal(env.step(KEY, state, far), inner.step(KEY, state, high), strict=True)


def test_rescale_action_maps_the_ends() -> None:
    inner = Spring()
    env = wrappers.RescaleAction(inner, low=0.0, high=2.0)
    _, state = env.reset(KEY)
    space = inner.action_space(inner.default_params)
    for given, meant in ((0.0, space.low), (2.0, space.high)):
        ours = env.step(KEY, state, jnp.full(space.shape, given))
        chex.assert_trees_all_equal(ours, inner.step(KEY, state, jnp.asarray(meant)), strict=True)


def test_sticky_action_repeats_as_often_as_it_says() -> None:
    env = wrappers.StickyAction(Counter(goal=10_000), repeat_action_probability=0.25)
    params = env.default_params.replace(max_steps_in_episode=10**6)
    num_steps = 4000

    def body(state: Any, key: jax.Array) -> Any:
        key_act, key_step = random.split(key)
        action = env.action_space(params).sample(key_act)
        before = state
        _, state, _, done, _ = env.step(key_step, state, action, params)
        stuck = (state.last_action == before.last_action) & (action != before.last_action) & before.has_last_action
        could = (action != before.last_action) & before.has_last_action
        return state, (stuck, could, done)

    _, state = env.reset(KEY, params)
    _, (stuck, could, done) = jax.lax.scan(body, state, random.split(KEY, num_steps))
    rate, count = float(stuck.sum()) / float(could.sum()), float(could.sum())
    assert not done.any()
    assert abs(rate - 0.25) < 4 * (0.25 * 0.75 / count) ** 0.5


def test_chance_is_chosen_through_wrappers() -> None:
    env = wrappers.LogWrapper(wrappers.StickyAction(Spring(), 0.25))
    _, state = env.reset(KEY)
    for push, sticks, executed in ((0.1, True, 0.5), (-0.2, False, -0.5), (0.3, True, -0.5)):
        draws = StickyDraws(SpringDraws(jnp.float32(push)), jnp.bool_(sticks))
        action = jnp.array([-executed if state.has_last_action & sticks else executed], jnp.float32)
        before, outcome = state, env.advance(state, action, draws, env.default_params)
        state = outcome.state
        assert state.last_action == executed
        pull = executed + push - before.position - 0.1 * before.velocity
        np.testing.assert_allclose(state.velocity, before.velocity + 0.1 * pull, rtol=1e-5)


def test_a_wrapper_says_what_to_call_in_place_of_transition() -> None:
    with pytest.raises(NotImplementedError, match=r"LogWrapper is a wrapper: call advance\(.*transition.*unwrapped"):
        wrappers.LogWrapper(Spring()).transition(None, None, None, None)


def test_sticky_action_executes_the_first_action_of_an_episode() -> None:
    env = wrappers.StickyAction(Counter(goal=10_000), repeat_action_probability=0.99)
    params = env.default_params.replace(max_steps_in_episode=1)  # every step is a first step
    _, state = env.reset(KEY, params)
    for seed in range(20):
        action = env.action_space(params).sample(jax.random.key(seed))
        _, after, _, done, _ = env.step(jax.random.key(seed), state, action, params)
        assert done
        assert int(after.last_action) == int(action)


def test_frame_stack_holds_the_last_observations() -> None:
    env, inner = wrappers.FrameStack(Spring(), 3), Spring()
    key, key_reset = random.split(KEY)
    stacked, state = env.reset(key_reset)
    plain, inner_state = inner.reset(key_reset)
    history = [plain] * 3
    np.testing.assert_array_equal(stacked, jnp.stack(history))
    ends = 0
    for key_step in random.split(key, 30):
        action = env.action_space(env.default_params).sample(key_step)
        stacked, state, _, done, info = env.step(key_step, state, action)
        plain, inner_state, _, _, inner_info = inner.step(key_step, inner_state, action)
        np.testing.assert_array_equal(info["final_obs"], jnp.stack([*history[1:], inner_info["final_obs"]]))
        history = [plain] * 3 if done else [*history[1:], plain]
        np.testing.assert_array_equal(stacked, jnp.stack(history))
        ends += bool(done)
    assert ends


def test_frame_stack_observes_once_a_step_where_final_obs_is_not_read() -> None:
    looks = []

    class Watched(Spring):
        def observe(self, state: Any, params: Any) -> jax.Array:
            def look(obs: Any) -> Any:
                looks.append(obs)
                return obs

            obs = super().observe(state, params)
            return jax.pure_callback(look, jax.ShapeDtypeStruct(obs.shape, obs.dtype), obs)

    env = wrappers.FrameStack(Watched(), 3)
    state = env.reset(KEY)[1]
    step = jax.jit(lambda *args: env.step(*args)[:4])
    for last in range(2):
        looks.clear()
        obs, state, *_ = jax.block_until_ready(step(KEY, state, jnp.zeros(1)))
        assert len(looks) == 1, last
        np.testing.assert_array_equal(obs[-1], looks[0])


def test_flatten_observation_joins_parts_in_the_order_of_names() -> None:
    env = wrappers.FlattenObservation(Deck())
    obs, state = env.reset(KEY)
    parts = Deck().observe(state, Deck().default_params)
    space: Any = Deck().observation_space(Deck().default_params)
    expected = []
    for name in sorted(parts):
        part = space.spaces[name]
        is_discrete = isinstance(part, spaces.Discrete)
        expected.append(np.eye(part.n)[int(parts[name])] if is_discrete else np.asarray(parts[name]).reshape(-1))
    np.testing.assert_array_equal(obs, np.concatenate(expected).astype(np.float32))
    np.testing.assert_array_equal(env.flatten(parts, env.default_params), obs)
    assert bool(env.observation_space(env.default_params).contains(obs))


def test_batched_equals_vmap() -> None:
    env, inner = wrappers.Batched(Spring(), 5), Spring()
    obs, state = env.reset(KEY)
    expected = jax.vmap(inner.reset)(random.spawn(KEY, 5))
    chex.assert_trees_all_equal((obs, state), expected, strict=True)
    action = env.action_space(env.default_params).sample(KEY)
    ours = env.step(KEY, state, action)
    theirs = jax.vmap(inner.step)(random.spawn(KEY, 5), state, action)
    assert ours[3].shape == (5,)
    chex.assert_trees_all_close(ours[4]["final_obs"], theirs[4]["final_obs"])


def test_batches_of_batches_draw_different_numbers() -> None:
    obs, _ = wrappers.Batched(wrappers.Batched(Spring(), 16), 16).reset(KEY)
    flat = np.asarray(obs).reshape(256, -1)[:, 0]
    assert len(np.unique(flat)) == 256


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: wrappers.Batched(Spring(), 0), "num_envs must be a positive integer, got 0"),
        (lambda: wrappers.ClipAction(Counter()), "needs a float Box of actions"),
        (lambda: wrappers.RescaleAction(wrappers.ClipAction(Spring())), "needs a bounded action space"),
        (lambda: wrappers.RescaleAction(Spring(), 1.0, 0.0), "needs low < high"),
        (lambda: wrappers.StickyAction(Counter(), 1.0), r"must be in \[0, 1\)"),
        (lambda: wrappers.FrameStack(Counter(), 0), "num_frames must be a positive integer"),
        (lambda: wrappers.NormalizeObservation(Deck()), "flatten them first"),
        (lambda: wrappers.NormalizeReward(Counter(), gamma=1.5), r"gamma must be in \[0, 1\]"),
        (lambda: LOOSE.Batched(Spring(), "8"), "num_envs must be a positive integer, got '8'"),
        (lambda: LOOSE.Batched(Spring(), Spring()), "num_envs must be a positive integer, got Spring"),
        (lambda: LOOSE.FrameStack(Spring(), 4.0), "num_frames must be a positive integer, got 4.0"),
        (lambda: LOOSE.FrameStack(Spring(), True), "num_frames must be a positive integer, got True"),
        (lambda: LOOSE.RescaleAction(Spring(), "0"), "low must be a finite Python or numpy number, got '0'"),
        (lambda: LOOSE.RescaleAction(Spring(), 0.0, np.inf), "high must be a finite Python or numpy number"),
        (lambda: LOOSE.RescaleAction(Spring(), [0.0], 1.0), "low must be a finite Python or numpy number"),
        (lambda: LOOSE.RescaleAction(Spring(), 1.0, 1.0 + 1e-12), "needs low < high"),
        (lambda: LOOSE.StickyAction(Counter(), jnp.float32(0.5)), "repeat_action_probability must be a finite"),
        (lambda: LOOSE.StickyAction(Counter(), np.nan), "repeat_action_probability must be a finite"),
        (lambda: LOOSE.NormalizeReward(Counter(), gamma=None), "gamma must be a finite Python or numpy number"),
        (lambda: LOOSE.NormalizeReward(Counter(), epsilon=0), "epsilon must be a positive number, got 0"),
        (lambda: LOOSE.NormalizeReward(Counter(), frozen=1), "frozen must be True or False, got 1"),
        (lambda: LOOSE.NormalizeObservation(Counter(), "1e-8"), "epsilon must be a finite Python or numpy number"),
        (lambda: LOOSE.NormalizeObservation(Counter(), 1e-50), "epsilon must be a positive number"),
        (lambda: LOOSE.NormalizeObservation(Counter(), frozen="yes"), "frozen must be True or False, got 'yes'"),
        (lambda: LOOSE.PixelObservation(Counter(), (8, 8), "yes"), "grayscale must be True or False, got 'yes'"),
    ],
)
def test_bad_options(build: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build()


def test_numpy_options_are_python_numbers_afterwards() -> None:
    with numerics(x64=True, dtype_promotion="strict", rank_promotion="raise"):
        env = LOOSE.RescaleAction(LOOSE.FrameStack(Spring(), np.int64(2)), np.float64(0), np.float32(2))
        assert repr(env) == repr(wrappers.RescaleAction(wrappers.FrameStack(Spring(), 2), 0.0, 2.0))
        jax.eval_shape(env.step, KEY, env.reset(KEY)[1], jnp.ones(1))


@dataclasses.dataclass(frozen=True)
class Eager(wrappers.Wrapper):
    """A wrapper that uses `env` as soon as it is constructed."""

    factor: int = 2

    def __post_init__(self) -> None:
        assert self.env.observation_space(self.env.default_params).shape


@pytest.mark.parametrize("name", [*ALL, "Eager"])
@pytest.mark.parametrize(
    ("given", "advice"),
    [
        ((Spring(), Spring().default_params), "; make returns a pair: env, params = envcore.make"),
        ("CartPole-v1", r"; make it first: env, params = envcore.make\('CartPole-v1'\)"),
        (Spring, r"; call the class: Spring\(...\)"),
        (None, "$"),
    ],
)
def test_only_environments_are_wrapped(name: str, given: Any, advice: str) -> None:
    wrap: Any = {**ALL, "Eager": Eager}[name]
    with pytest.raises(TypeError, match=rf"{name} wraps an Environment, got .*{advice}"):
        wrap(given)


def test_only_environments_are_wrapped_by_keyword() -> None:
    with pytest.raises(TypeError, match="Eager wraps an Environment, got 3"):
        Eager(factor=2, env=3)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="unexpected keyword argument 'factr'"):
        Eager(Spring(), factr=3)  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'env'"):
        Eager()  # pyright: ignore[reportCallIssue]
    assert dataclasses.replace(Eager(Spring()), factor=3) == Eager(Spring(), 3)


def test_the_state_inside_is_read_through_every_wrapper() -> None:
    env = wrappers.LogWrapper(wrappers.FrameStack(wrappers.Batched(wrappers.StickyAction(Spring()), 3), 2))
    state = env.reset(KEY)[1]
    np.testing.assert_array_equal(state.position, state.env_state.env_state.env_state.position)
    np.testing.assert_array_equal(state.has_last_action, [False] * 3)
    assert not hasattr(state, "absent")
    assert copy.deepcopy(state).time.shape == pickle.loads(pickle.dumps(state)).time.shape == (3,)


def test_the_state_space_inside_keeps_its_bounds() -> None:
    inner = Counter().state_space(Counter().default_params)
    for wrap in (wrappers.NoAutoReset, wrappers.FlattenObservation, wrappers.CheckActions, Eager):
        assert wrap(Counter()).state_space(wrap(Counter()).default_params) == inner
    assert wrappers.Batched(Counter(), 3).state_space(wrappers.Batched(Counter(), 3).default_params) == spaces.Dict(
        {"count": spaces.MultiDiscrete([4] * 3), "time": spaces.NATURAL_NUMBERS.batch(3)}
    )
    env = wrappers.LogWrapper(wrappers.NormalizeReward(wrappers.Batched(Counter(), 3)))
    space: Any = env.state_space(env.default_params)
    assert space.spaces["env_state"].spaces["env_state"] == wrappers.Batched(Counter(), 3).state_space(
        wrappers.Batched(Counter(), 3).default_params
    )
    _, state = env.reset(KEY)
    assert space.contains(state)
    beyond = state.env_state.env_state.replace(count=jnp.full(3, 4))
    assert not space.contains(state.replace(env_state=state.env_state.replace(env_state=beyond)))


def test_a_wrapper_with_a_different_state_has_a_space_without_the_bounds_inside() -> None:
    class Doubled(wrappers.Wrapper):
        def init_state(self, draws: Any, params: Any, /) -> Any:
            return jax.tree.map(lambda x: jnp.stack([x, x]), super().init_state(draws, params))

    assert Doubled(Counter()).state_space(Doubled(Counter()).default_params).shape == {"count": (2,), "time": (2,)}


@pytest.mark.slow
def test_every_pair_of_wrappers_composes() -> None:
    for outer, inner in itertools.permutations(ALL, 2):
        if (outer, inner) == ("RescaleAction", "ClipAction"):
            continue
        env = ALL[outer](ALL[inner](Spring()))
        obs, state = jax.eval_shape(env.reset, KEY)
        action = jax.eval_shape(env.action_space(env.default_params).sample, KEY)
        after = jax.eval_shape(env.step, KEY, state, action)
        chex.assert_trees_all_equal_shapes_and_dtypes(after[:2], (obs, state))
