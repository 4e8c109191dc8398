"""`Stepper`: machine code plays what XLA plays."""

import copy
import os
import pickle
import subprocess
import sys
from typing import Any

import envcore
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.errors import InvalidActionError, InvalidArgumentError, InvalidParamsError
from envcore.wrappers import Batched, FrameStack, LogWrapper, NormalizeObservation, StickyAction
from envcore_native import Stepper, compiler, turns, xla

LIGHT = ["CartPole-v1", "Catch-bsuite", "Breakout-MinAtar", "Pendulum-v1"]
OWN = sorted(env_id for env_id in envcore.registry if "/" not in env_id and env_id != "MNISTBandit-bsuite")


def by_xla(env, num_envs=None, spend=turns.count_up, **options):
    """The same environments, stepped by XLA."""
    made = Stepper(env, num_envs, spend=spend, **options)
    made.why_not_native = "it is a test"
    made._steps = xla.Calls(made.env, made.autoreset, spend, made.params, np.array)
    return made


def assert_same(ours: Any, theirs: Any, where: Any = ...):
    assert jax.tree.structure(ours) == jax.tree.structure(theirs)
    for x, y in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        x, y = np.asarray(x), np.asarray(y)
        assert (x.dtype, x.shape) == (y.dtype, y.shape)
        if x.dtype.kind == "f":
            np.testing.assert_allclose(x[where], y[where], rtol=1e-5, atol=1e-5)
        else:
            np.testing.assert_array_equal(x[where], y[where])


def play_beside_xla(env, num_envs, autoreset, steps, **options):
    ours, theirs = (make(env, num_envs, autoreset=autoreset, **options) for make in (Stepper, by_xla))
    assert ours.why_not_native is None
    assert_same(ours.reset(seed=3), theirs.reset(seed=3))
    space = ours.env.action_space(ours.params)
    for step in range(steps):
        action = jax.device_get(space.sample(jax.random.key(step)))
        x, y = ours.step(action), theirs.step(action)
        assert_same(x[:5], y[:5])
        done = np.asarray(x.terminated) | np.asarray(x.truncated)
        if x.final_obs is not None:
            assert_same(x.final_obs, y.final_obs, done)
            own = {name: part for name, part in (x.final_info or {}).items() if name != turns.MASK}
            assert_same(own, y.final_info, done)
        if autoreset == "disabled" and done.any():
            mask = done if num_envs else None
            assert_same(ours.restart(mask=mask)[0], theirs.restart(mask=mask)[0])
        # Chaotic systems would drift apart by rounding.
        for mine, exact in zip(*(jax.tree.leaves(each._steps.view.state) for each in (ours, theirs)), strict=True):
            mine[...] = exact
    if num_envs:
        mask, keys = np.arange(num_envs) % 2 == 0, np.arange(2 * num_envs, dtype=np.uint32).reshape(-1, 2)
        assert_same(ours.start(keys[0], mask, keys)[0], theirs.start(keys[0], mask, keys)[0])
        assert_same(ours.restart(keys[1], mask)[0], theirs.restart(keys[1], mask)[0])
        assert_same(ours.state, theirs.state)


@pytest.mark.parametrize("autoreset", ["same_step", "next_step", "disabled"])
@pytest.mark.parametrize("env_id", LIGHT)
def test_a_batch_plays_as_by_xla(env_id, autoreset):
    play_beside_xla(envcore.make(env_id)[0], 5, autoreset, 40)


@pytest.mark.slow
@pytest.mark.parametrize("env_id", OWN)
def test_every_environment_plays_as_by_xla(env_id):
    env = envcore.make(env_id)[0]
    for num_envs, autoreset in ((None, "disabled"), (5, "same_step"), (5, "next_step")):
        play_beside_xla(env, num_envs, autoreset, 200)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda env: LogWrapper(Batched(env, 3)),
        lambda env: Batched(FrameStack(StickyAction(env), 3), 3),
        lambda env: Batched(NormalizeObservation(env), 3),
        lambda env: FrameStack(LogWrapper(env), 2),
    ],
)
def test_wrappers(wrap):
    env = wrap(envcore.make("CartPole-v1")[0])
    play_beside_xla(env, None, "same_step" if env.batch_shape else "disabled", 40)


def test_keys_that_are_split():
    play_beside_xla(envcore.make("Catch-bsuite")[0], None, "disabled", 20, spend=turns.split)


def test_the_readme_s_loop():
    env, params = envcore.make("CartPole-v1")
    steps = Stepper(env, num_envs=8, params=params)
    obs, info = steps.reset(seed=0)
    assert (obs.shape, info) == ((8, 4), {})
    batch = Batched(env, 8)
    key = np.random.default_rng(0).integers(2**32, size=2, dtype=np.uint32)
    expected, state = batch.reset(turns.typed_key(key), params)
    np.testing.assert_allclose(obs, expected, rtol=1e-6)
    for number in range(1, 30):
        actions = np.arange(8) % 2
        step = steps.step(actions)
        key_step = turns.typed_key(key + np.array([0, number], np.uint32))
        expected, state, reward, done, _ = batch.step(key_step, state, jnp.asarray(actions), params)
        np.testing.assert_allclose(step.obs, expected, rtol=1e-4, atol=1e-5)
        np.testing.assert_array_equal(step.terminated | step.truncated, done)
        np.testing.assert_array_equal(step.reward, reward)


def test_results_are_new_and_writable():
    steps = Stepper(envcore.make("CartPole-v1")[0], 3)
    first = steps.reset(seed=0)[0]
    before = first.copy()
    second = steps.step(np.zeros(3, np.int64)).obs
    np.testing.assert_array_equal(first, before)
    first[...], second[...] = 7, 7
    assert not (steps.step(np.zeros(3, np.int64)).obs == 7).any()


def test_one_environment_returns_python_s_numbers():
    steps = Stepper(envcore.make("Pendulum-v1")[0], autoreset="disabled")
    steps.reset(seed=0)
    _, reward, terminated, truncated, *_ = steps.step([0.5])
    assert (type(reward), type(terminated), type(truncated)) == (float, bool, bool)


def test_params_change_between_calls():
    env = envcore.make("CartPole-v1")[0]
    ours, theirs = Stepper(env, 3), by_xla(env, 3)
    for each in (ours, theirs):
        each.reset(seed=0)
    for gravity in (9.8, -30.0, 100.0):
        for each in (ours, theirs):
            each.params = {"gravity": gravity}
        assert_same(ours.step(np.ones(3, np.int64))[:4], theirs.step(np.ones(3, np.int64))[:4])
    with pytest.raises(InvalidParamsError, match="gravity must be finite"):
        ours.params = {"gravity": np.nan}


@pytest.mark.parametrize(
    ("env_id", "actions"),
    [
        ("CartPole-v1", action)
        for action in (
            [0, 2], [-1, 0], np.array([0, 2**32]), np.array([0, 2**63], np.uint64), [0.0, 1.0], [0], 0, None, "left",
            [[0], [0, 1]],
        )
    ]
    + [
        ("Pendulum-v1", action)
        for action in (
            [[0.0], [np.nan]], np.array([[0.0], [np.inf]], np.float32), [[1e300], [0.0]], [0.0, 0.0], ["x", "y"],
        )
    ],
)  # fmt: skip
def test_actions_outside_of_the_space_change_nothing(env_id, actions):
    steps, again = (Stepper(envcore.make(env_id)[0], 2) for _ in range(2))
    for each in (steps, again):
        each.reset(seed=0)
    with pytest.raises(InvalidActionError, match=r"an action of .* must be "):
        steps.step(actions)
    right = np.zeros((2, 1), np.float32) if env_id == "Pendulum-v1" else np.zeros(2, np.int64)
    assert_same(steps.step(right)[:4], again.step(right)[:4])


@pytest.mark.parametrize("action", [1, np.int64(1), np.array(1), np.uint8(1), jnp.int32(1)], ids=repr)
def test_kinds_of_one_choice(action):
    steps, again = (Stepper(envcore.make("CartPole-v1")[0], autoreset="disabled") for _ in range(2))
    for each in (steps, again):
        each.reset(seed=0)
    assert_same(steps.step(action)[:4], again.step(1)[:4])


def test_numbers_beyond_bounds_are_the_environment_s_affair():
    play = Stepper(envcore.make("Pendulum-v1")[0], autoreset="disabled")
    play.reset(seed=0)
    assert np.isfinite(play.step([900.0]).obs).all()


@pytest.mark.parametrize("make", [Stepper, by_xla])
def test_copies_go_on_alike(make):
    steps = make(LogWrapper(envcore.make("Catch-bsuite")[0]), 3)
    steps.reset(seed=0)
    steps.step(np.ones(3, np.int64))
    copies = copy.deepcopy(steps), pickle.loads(pickle.dumps(steps))
    for _ in range(12):
        expected = steps.step(np.ones(3, np.int64))
        for each in copies:
            assert_same(each.step(np.ones(3, np.int64))[:5], expected[:5])


def test_what_environments_share_is_stepped_by_xla():
    env = NormalizeObservation(Batched(envcore.make("CartPole-v1")[0], 3))
    steps = Stepper(env)
    assert "is shared by all environments" in str(steps.why_not_native)
    steps.reset(seed=0)
    assert steps.step(np.zeros(3, np.int64)).obs.shape == (3, 4)


def test_without_a_compiler_xla_steps_and_says_so(monkeypatch):
    monkeypatch.setattr(compiler, "command", lambda: None)
    with pytest.warns(UserWarning, match=r"CartPole steps through XLA, .* no C compiler found: install"):
        steps = Stepper(envcore.make("CartPole-v1")[0], 2)
    steps.reset(seed=0)
    assert steps.step(np.zeros(2, np.int64)).obs.shape == (2, 4)


def test_a_compiler_that_fails_is_quoted(monkeypatch):
    monkeypatch.setattr(compiler, "command", lambda: ["false"])
    with pytest.raises(compiler.CompilerError, match=r"^false .*failed with 1: no output$"):
        compiler.load("int x;")
    monkeypatch.undo()
    with pytest.raises(compiler.CompilerError, match=r"failed with 1: .*error"):
        compiler.load("int x")


def test_a_damaged_file_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(compiler, "_folder", lambda: tmp_path)
    monkeypatch.setattr(compiler, "_compile", lambda command, source, library, libraries: library.write_text("no code"))
    with pytest.raises(compiler.CompilerError, match=r"\.so cannot be used: .*Delete it, or free some space"):
        compiler.load("int x;")


def test_other_random_streams_are_xla_s():
    config: Any = jax.config
    before = config.jax_threefry_partitionable
    jax.config.update("jax_threefry_partitionable", False)
    try:
        steps = Stepper(envcore.make("Catch-bsuite", rows=7)[0], 2)
        assert "jax_threefry_partitionable" in str(steps.why_not_native)
    finally:
        jax.config.update("jax_threefry_partitionable", before)


def test_two_processes_compile_the_same_source(tmp_path):
    """Both get it, and the folder is the user's alone."""
    program = (
        "from envcore_native import compiler; library = compiler.load('int seven(void) { return 7; }'); "
        "assert library.seven() == 7"
    )
    environment = {"XDG_CACHE_HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    started = [subprocess.Popen([sys.executable, "-c", program], env=environment) for _ in range(2)]
    assert [each.wait() for each in started] == [0, 0]
    folder = tmp_path / "envcore" / "native"
    assert len(list(folder.iterdir())) == 1
    assert folder.stat().st_mode & 0o77 == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_envs": 0}, "num_envs must be a positive integer"),
        ({"arrays": "torch"}, "a Stepper needs an Environment and arrays of 'numpy' or 'jax', got .* and 'torch'"),
        ({"autoreset": "sometimes"}, "autoreset must be 'same_step', 'next_step' or 'disabled', got 'sometimes'"),
    ],
)
def test_invalid_arguments(options, message):
    with pytest.raises(InvalidArgumentError, match=message):
        Stepper(envcore.make("CartPole-v1")[0], **options)


@pytest.mark.parametrize("arrays", ["numpy", "jax"])
def test_a_step_before_the_first_reset(arrays):
    stepper = Stepper(envcore.make("CartPole-v1")[0], arrays=arrays)
    for call in (lambda: stepper.step(0), stepper.restart):
        with pytest.raises(InvalidArgumentError, match="there is no episode yet: call reset first"):
            call()


def test_the_compiler_after_a_missing_one(monkeypatch):
    monkeypatch.setenv("CC", "/nonexistent/gcc")
    assert compiler.command() == ["cc"]


@pytest.mark.parametrize("seed", [-1, 0.5, "7"])
def test_invalid_seeds(seed):
    with pytest.raises(InvalidArgumentError, match="seed must be a non-negative integer or None"):
        Stepper(envcore.make("CartPole-v1")[0]).reset(seed=seed)
