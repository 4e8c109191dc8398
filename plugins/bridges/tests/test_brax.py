"""`FromBrax` beside brax itself."""

from __future__ import annotations

import functools
from typing import Any

import brax.envs
import envcore
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from brax.envs import fast
from brax.envs.wrappers import training
from envcore.errors import InvalidArgumentError, InvalidParamsError, NoPictureError
from envcore.rollout import random_policy, run_rollout, start_rollout
from envcore_bridges.brax import FromBrax, from_brax
from envcore_bridges.libraries import BY_FAMILY
from envcore_testing import Case, check_env, check_lockstep, conformance_cases

ENVIRONMENTS = BY_FAMILY["brax"].environments()

pytestmark = [
    pytest.mark.filterwarnings("ignore:Brax System, pip:UserWarning"),
    pytest.mark.filterwarnings("ignore:Accessing .* directly from `Data`:DeprecationWarning"),  # brax does
]

SMALL = ("fast", *(pytest.param(name, marks=pytest.mark.exhaustive) for name in ("inverted_pendulum", "reacher")))
LARGE = [name for name in ENVIRONMENTS if name not in ("fast", "inverted_pendulum", "reacher")]

AMPLIFY_ROUNDING = {
    "humanoid": {"jit_equals_eager", "vmap_equals_loop"},
    "humanoidstandup": {"vmap_equals_loop"},
    "walker2d": {"batched_params", "new_episode", "vmap_equals_loop"},
}
"""Rules that need equal numbers from two programs, where those of brax differ by amplified rounding."""


@pytest.fixture
def promotion_of_brax():
    """brax promotes dtypes as JAX does by default; the tests' JAX is strict."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


def test_brax_lists_what_is_announced() -> None:
    assert set(ENVIRONMENTS) == set(brax.envs._envs) - {"swimmer"}


@pytest.mark.slow
@pytest.mark.parametrize("case", conformance_cases(FromBrax("fast"), num_steps=40), ids=str)
def test_conforms(case: Case) -> None:
    case()


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore")  # brax's own
@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_every_environment_conforms(name: str, promotion_of_brax: None) -> None:
    check_env(from_brax(name), num_steps=48, except_for=AMPLIFY_ROUNDING.get(name, ()))


def braxs(env: Any) -> dict[str, Any]:
    """brax's own reset and step."""

    def reset(key: jax.Array) -> tuple[Any, Any]:
        state = env.reset(key)
        return state, state.obs

    def step(state: Any, action: jax.Array, key: jax.Array) -> tuple[Any, ...]:
        state = env.step(state, action)
        return state, state.obs, state.reward, state.done

    return {"reset": reset, "step": step}


@pytest.mark.parametrize("name", SMALL)
def test_it_plays_as_brax_does(name: str, promotion_of_brax: None) -> None:
    env, params = envcore.make(f"brax/{name}")
    assert params.max_steps_in_episode == 1000
    params = params.replace(max_steps_in_episode=40)
    assert check_lockstep(env, **braxs(brax.envs.get_environment(name)), params=params, num_steps=100) >= 2


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", LARGE)
def test_its_steps_are_those_of_brax_but_for_the_last_bit(name: str, promotion_of_brax: None) -> None:
    """XLA adds up the forces of many bodies in another order in another program, and contacts amplify that in time.

    In a batch they do so within a step, by up to 0.008 rad/s for the humanoid, so brax steps one at a time.
    """
    env, params = envcore.make(f"brax/{name}", vary=())
    start = start_rollout(env, jax.random.key(0), params)
    _, steps = jax.jit(lambda start: run_rollout(env, random_policy(env), start, 64, params))(start)
    game = brax.envs.get_environment(name)
    theirs = jax.jit(lambda steps: jax.lax.map(lambda step: game.step(*step), steps))((steps.state.inner, steps.action))
    np.testing.assert_allclose(steps.next_obs, theirs.obs, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(steps.reward, theirs.reward, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(steps.info["terminated"], theirs.done > 0)


@pytest.mark.slow
def test_params_are_fields_of_the_system(promotion_of_brax: None) -> None:
    env, params = envcore.make("brax/inverted_pendulum", vary=("gravity", "link.inertia.mass"))
    assert list(params.model) == ["gravity", "link.inertia.mass"]
    with pytest.raises(InvalidParamsError, match=r"without \.model\['gravity'\]"):
        env.reset(jax.random.key(0), params.replace(model={}))
    many = params.replace(
        model={**params.model, "gravity": params.model["gravity"] * np.array([[1.0], [0.0]], np.float32)}
    )
    axes = type(params)(model={"gravity": 0, "link.inertia.mass": None}, max_steps_in_episode=None)

    def angle(params: Any) -> jax.Array:
        def push(carry: Any, _: None) -> tuple[Any, None]:
            return env.step_env(jax.random.key(0), carry[1], jnp.zeros(1), params)[:2], None

        return jax.lax.scan(push, env.reset(jax.random.key(0), params), length=3)[0][0][1]

    on_earth, weightless = jax.jit(jax.vmap(angle, (axes,)))(many)
    assert abs(on_earth - weightless) > 1e-4


@pytest.mark.slow
def test_it_plays_as_brax_does_without_gravity(promotion_of_brax: None) -> None:
    env, params = envcore.make("brax/inverted_pendulum", vary=("gravity",))
    theirs: Any = brax.envs.get_environment("inverted_pendulum")
    theirs.sys = theirs.sys.tree_replace({"gravity": jnp.zeros(3)})
    params = params.replace(model={"gravity": np.zeros(3, np.float32)})
    check_lockstep(env, **braxs(theirs), params=params, num_steps=20)


@pytest.mark.slow
def test_metrics_are_info() -> None:
    class Counting(fast.Fast):
        """Observes a mapping, and counts."""

        def reset(self, rng: jax.Array) -> Any:
            state: Any = super().reset(rng)
            return state.replace(metrics={"count": jnp.zeros(())})

        def step(self, state: Any, action: jax.Array) -> Any:
            state.metrics.update(count=state.metrics["count"] + 1)
            return super().step(state, action)

    env = from_brax(Counting, obs_mode="dict_pixels_state")
    assert env.name == "Counting"
    obs, state = env.reset(jax.random.key(0))
    assert jax.tree.map(jnp.shape, obs) == {
        "pixels/view_0": (4, 4, 3),
        "pixels/view_1": (4, 4, 3),
        "state": (2,),
    }
    with jax.disable_jit():
        *_, info = env.step(jax.random.key(0), state, jnp.ones(1))
    assert (info["count"], state.inner.metrics["count"]) == (1, 0)
    check_lockstep(env, **braxs(Counting(obs_mode=fast.ObservationMode.DICT_PIXELS_STATE)), num_steps=50)


def test_the_limit_of_brax_s_episode_wrapper_truncates(promotion_of_brax: None) -> None:
    env = from_brax(lambda: training.EpisodeWrapper(brax.envs.get_environment("fast"), 3, 1))
    _, state = env.reset(jax.random.key(0))
    step = jax.jit(env.step)
    for number in range(1, 4):
        _, state, _, _, info = step(jax.random.key(number), state, jnp.ones(1))
        assert (bool(info["terminated"]), bool(info["truncated"])) == (False, number == 3)


@pytest.mark.slow
def test_pictures() -> None:
    env, params = envcore.make("brax/inverted_pendulum")
    states = jax.vmap(env.reset, (0, None))(jax.random.split(jax.random.key(0), 2), params)[1]
    pictures = jax.jit(jax.vmap(lambda state: env.render(state, params, height=60)))(states)
    assert pictures.shape == (2, 60, 80, 3)
    assert (pictures[0] != pictures[1]).any()
    point, params = envcore.make("brax/fast")
    _, state = point.reset(jax.random.key(0))
    with pytest.raises(NoPictureError, match="fast cannot be rendered"):
        point.render(state, params)


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        ("antelope", {}, "brax has no environment 'antelope'"),
        ("reacher", {"wrong_option": 1}, "got an unexpected keyword argument 'wrong_option'"),
        (
            "reacher",
            {"vary": ("link.mass",)},
            r"cannot name 'link.mass': the environment has no floats of this name in its System",
        ),
        (functools.partial(brax.envs.create, "fast"), {}, r"is wrapped in \w+Wrapper, which does what envcore does"),
    ],
)
def test_what_is_refused(source: Any, options: dict[str, Any], message: str, promotion_of_brax: None) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        from_brax(source, **options)
