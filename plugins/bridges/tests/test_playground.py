"""MuJoCo Playground in envcore, in step with its own environments."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import Any

import envcore
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from brax.envs.wrappers.training import EpisodeWrapper
from envcore.errors import EnvironmentLoadError, InvalidArgumentError, InvalidParamsError, NoPictureError
from envcore.wrappers import Batched
from envcore_bridges import from_playground
from envcore_bridges.base import pictures
from envcore_bridges.libraries import BY_FAMILY
from envcore_testing import Case, check_lockstep, conformance_cases
from mujoco_playground import dm_control_suite, registry, wrapper
from mujoco_playground._src import mjx_env

CONTROL_SUITE = dm_control_suite.ALL_ENVS
CHEAP = "CartpoleBalance"


def cartpole(limit: int | None = None) -> Any:
    env: Any = registry.load(CHEAP)
    return env if limit is None else EpisodeWrapper(env, limit, 1)


def test_what_playground_has_is_announced() -> None:
    assert set(BY_FAMILY["playground"].environments()) == set(registry.ALL_ENVS)


@pytest.mark.slow
@pytest.mark.parametrize("case", conformance_cases(from_playground(CHEAP), num_steps=48), ids=str)
def test_conforms(case: Case) -> None:
    case()


# XLA rounds some products and sums together, in two programs not always the same ones, unless it is told not to.
ROUNDS_ALIKE = "--xla_cpu_max_isa=SSE4_2"


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name == CHEAP else [pytest.mark.slow]) for name in CONTROL_SUITE]
)
def test_it_plays_as_playground_does_in_a_process_that_rounds_alike(name: str) -> None:
    settings = {**os.environ, "XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {ROUNDS_ALIKE}"}
    command = ["-m", "pytest", "-q", "-n", "0", f"{__file__}::test_it_plays_beside_playground[{name}]"]
    done = subprocess.run([sys.executable, *command], env=settings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.skipif(ROUNDS_ALIKE not in os.environ.get("XLA_FLAGS", ""), reason="the test above runs it")
@pytest.mark.parametrize("name", CONTROL_SUITE)
def test_it_plays_beside_playground(name: str) -> None:
    # Of the places for contacts in a batch of thousands, one environment needs few, and a CPU visits them all.
    config: Any = registry.get_default_config(name)
    options: dict[str, Any] = {"naconmax": min(500, config.naconmax)}
    theirs = registry.load(name, config_overrides=options)

    def reset(key: jax.Array) -> tuple[Any, Any]:
        state = theirs.reset(key)
        return state, state.obs

    def step(state: Any, action: jax.Array, key: jax.Array) -> tuple[Any, ...]:
        state = theirs.step(jax.tree.map(lambda x: x, state), action)  # it writes into the dict of metrics
        return state, state.obs, state.reward, state.done

    env, params = envcore.make(f"playground/{name}", **options)
    assert params.max_steps_in_episode == theirs._config.episode_length
    # A start of CheetahRun simulates 200 steps, and theirs is computed in every step.
    num_steps = 100 if name == CHEAP else 20
    params = params.replace(max_steps_in_episode=num_steps * 2 // 5)
    assert check_lockstep(env, reset, step, params=params, num_steps=num_steps) >= 2


def test_a_state_holds_no_contacts_and_a_batch_of_them_can_be_stored() -> None:
    env = from_playground("CheetahRun")
    kept = jax.tree.leaves(env.state_types)
    whole = jax.tree.leaves(jax.eval_shape(env.library_env.reset, jax.random.PRNGKey(0)))
    kept, whole = (sum(leaf.size * leaf.dtype.itemsize for leaf in leaves) for leaves in (kept, whole))
    assert kept < 5000 < 15_000_000 < whole
    batch = Batched(env, 3)
    state = jax.eval_shape(batch.reset, jax.random.key(0), batch.default_params)[1]
    assert {leaf.shape[0] for leaf in jax.tree.leaves(state)} == {3}


def test_params_are_fields_of_the_model() -> None:
    env, params = envcore.make(f"playground/{CHEAP}", vary=("opt.gravity",))
    assert list(params.model) == ["opt.gravity"]
    with pytest.raises(InvalidParamsError, match=r"without \.model\['opt\.gravity'\]"):
        env.reset(jax.random.key(0), params.replace(model={}))
    gravity = np.array([[0.0, 0.0, -9.81], [0.0, 0.0, 0.0]], np.float32)
    many = params.replace(model={"opt.gravity": gravity})
    axes = type(params)(model={"opt.gravity": 0}, max_steps_in_episode=None)

    def speed(params: Any) -> jax.Array:
        def push(carry: Any, _: None) -> tuple[Any, None]:
            return env.step_env(jax.random.key(0), carry[1], jnp.zeros(1), params)[:2], None

        return jax.lax.scan(push, env.reset(jax.random.key(0), params), length=3)[0][0][4]

    on_earth, weightless = jax.jit(jax.vmap(speed, (axes,)))(many)
    assert abs(on_earth - weightless) > 1e-3


def test_the_limit_of_an_episode_wrapper_truncates() -> None:
    env = from_playground(cartpole, limit=3)
    _, state = env.reset(jax.random.key(0))
    step = jax.jit(env.step)
    for number in range(1, 4):
        _, state, _, _, info = step(jax.random.key(number), state, jnp.ones(1))
        assert (bool(info["terminated"]), bool(info["truncated"])) == (False, number == 3)


def test_options_are_fields_of_the_config() -> None:
    env = from_playground(CHEAP, ctrl_dt=0.02, episode_length=500)
    assert (env.library_env.n_substeps, env.default_params.max_steps_in_episode) == (2, 500)


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        ("Cartpole", {}, "Playground has no environment 'Cartpole'"),
        (CHEAP, {"wrong_option": 1}, "wrong_option"),
        (CHEAP, {"vary": "nq"}, "vary cannot name 'nq': the environment has no floats of this name in its Model"),
        (lambda: wrapper.wrap_for_brax_training(cartpole()), {}, "is wrapped in BraxAutoResetWrapper, which does what"),
    ],
)
def test_what_is_refused(source: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        from_playground(source, **options)


def test_robots_that_are_missing_are_not_downloaded(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setattr(mjx_env, "MENAGERIE_PATH", tmp_path / "menagerie")
    for name in set(registry.ALL_ENVS) - set(CONTROL_SUITE):
        expected = f"MuJoCo Playground's {name} needs the robots of MuJoCo Menagerie in {tmp_path / 'menagerie'}"
        with pytest.raises(EnvironmentLoadError, match=re.escape(expected)):
            envcore.make(f"playground/{name}")


def test_pictures() -> None:
    if pictures._problem_of_opengl():
        pytest.skip(pictures._problem_of_opengl())
    env, params = envcore.make(f"playground/{CHEAP}")
    states = jax.vmap(env.reset, (0, None))(jax.random.split(jax.random.key(0), 2), params)[1]
    seen = jax.jit(jax.vmap(lambda state: env.render(state, params, height=60)))(states)
    assert seen.shape == (2, 60, 80, 3)
    assert (seen[0] != seen[1]).any()
    assert env.render(jax.tree.map(lambda x: x[0], states), params, height=600).shape == (600, 800, 3)


def test_without_opengl_a_picture_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    env, params = envcore.make(f"playground/{CHEAP}")
    _, state = env.reset(jax.random.key(0))
    monkeypatch.setattr(pictures, "_problem_of_opengl", lambda: "no display")
    with pytest.raises(NoPictureError, match=r"MuJoCo finds no OpenGL \(no display\)\. .* set MUJOCO_GL=egl"):
        env.render(state, params)
