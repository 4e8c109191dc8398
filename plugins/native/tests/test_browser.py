"""Environments in WebAssembly, played in node beside machine code and JAX."""

import dataclasses
import json
import shutil
import subprocess
from typing import Any

import envcore
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import spaces
from envcore.errors import FileError, InvalidArgumentError
from envcore.wrappers import Batched
from envcore_classic_control.cartpole import CartPole
from envcore_native import Stepper, web

pytest.importorskip("ziglang")
NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")
OWN = sorted(env_id for env_id in envcore.registry if "/" not in env_id and env_id != "MNISTBandit-bsuite")
HEIGHT = 64
PLAY = """
const [file, given] = process.argv.slice(2);
const { create } = await import(file);
const { seed, actions, pictures } = JSON.parse(require("fs").readFileSync(given));
const env = await create(), rows = [];
const seen = () => Object.fromEntries(
  env.names.filter((name) => /^(state|obs)/.test(name)).map((name) => [name, Array.from(env.array(name))]));
env.reset(seed);
for (const [i, action] of actions.entries()) {
  const { reward, terminated, truncated } = env.step(action);
  const row = { ...seen(), reward, terminated, truncated };
  if (i % pictures === 0) row.picture = Array.from(env.render().data);
  rows.push(row);
  if (terminated || truncated) env.reset(seed + i + 1);
}
console.log(JSON.stringify(rows));
""".replace('require("fs").readFileSync', '(await import("fs")).readFileSync')


def node(tmp_path, module, **given):
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "play.js").write_text(PLAY)
    (tmp_path / "given.json").write_text(json.dumps(given))
    command = [str(NODE), tmp_path / "play.js", module, tmp_path / "given.json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def named(name, tree):
    pairs = jax.tree_util.tree_leaves_with_path(tree)
    return {name + jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in pairs}


def assert_equal(ours, expected, where):
    if expected.dtype.kind == "f":
        numbers = np.array([np.nan if x is None else x for x in np.ravel(ours)])  # JSON has neither NaN nor infinity
        finite = np.isfinite(np.ravel(expected))
        np.testing.assert_allclose(numbers[finite], np.ravel(expected)[finite], rtol=1e-3, atol=1e-3, err_msg=where)
    else:
        np.testing.assert_array_equal(np.ravel(ours), np.ravel(expected), err_msg=where)


def check(env_id, tmp_path, steps):
    env = envcore.make(env_id)[0]
    module = web(env, tmp_path, height=HEIGHT)
    stepper = Stepper(env, autoreset="disabled")
    space = env.action_space(stepper.params)
    actions = [np.asarray(space.sample(jax.random.key(i))).tolist() for i in range(steps)]
    rows = node(tmp_path, module, seed=7, actions=actions, pictures=steps // 4)
    draw = jax.jit(lambda state: env.render(state, stepper.params, HEIGHT))
    stepper.start(np.array([0, 7], np.uint32))
    for i, (action, row) in enumerate(zip(actions, rows, strict=True)):
        obs, reward, terminated, truncated, *_ = stepper.step(action)
        place = f"{env_id}, step {i}"
        assert (row["terminated"], row["truncated"]) == (terminated, truncated), place
        assert row["reward"] == pytest.approx(reward, rel=1e-3, abs=1e-3), place
        for name, leaf in (named("state", stepper._steps.view.state) | named("obs", obs)).items():
            assert_equal(row[name], leaf, f"{place}: {name}")
        if "picture" in row:
            expected = np.asarray(draw(stepper.state)).ravel().astype(int)
            assert np.abs(np.array(row["picture"]) - expected).max() <= 1, place
        if terminated or truncated:
            stepper.start(np.array([0, 7 + i + 1], np.uint32))


@pytest.mark.parametrize("env_id", ["CartPole-v1", "Breakout-MinAtar"])
def test_an_environment_plays_in_node(env_id, tmp_path):
    check(env_id, tmp_path, 60)


@pytest.mark.slow
@pytest.mark.parametrize("env_id", OWN)
def test_every_environment_plays_in_node(env_id, tmp_path):
    check(env_id, tmp_path, 500)


def test_a_policy_acts(tmp_path):
    env = envcore.make("CartPole-v1")[0]
    weights = np.random.default_rng(0).normal(size=(4, 8)).astype(np.float32)

    def policy(obs, key):
        hidden = jnp.tanh(obs @ weights)
        return jnp.argmax(hidden + jax.random.uniform(key, (8,))) % 2

    module = web(env, tmp_path, policy=policy, height=HEIGHT)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "act.js").write_text(
        f"import {{ create }} from {json.dumps(str(module))};\n"
        "const env = await create(), chosen = [];\n"
        "env.reset(7);\n"
        "for (let i = 0; i < 9; ++i) { chosen.push(env.act()); env.step(chosen.at(-1)); }\n"
        "console.log(JSON.stringify(chosen));\n"
    )
    chosen = json.loads(subprocess.run([str(NODE), tmp_path / "act.js"], capture_output=True, check=True).stdout)
    stepper = Stepper(env, autoreset="disabled")
    obs, _ = stepper.start(np.array([0, 7], np.uint32))
    for i, action in enumerate(chosen, 1):
        assert action == policy(obs, jax.random.wrap_key_data(jnp.array([0, i], jnp.uint32)))
        obs = stepper.step(action).obs


def test_a_large_picture_fits_the_stack(tmp_path):
    module = web(envcore.make("Asterix-MinAtar")[0], tmp_path, height=400)
    (row,) = node(tmp_path, module, seed=0, actions=[0], pictures=1)
    assert len(row["picture"]) == 400 * 400 * 3


def test_an_action_outside_of_the_space_is_refused(tmp_path):
    module = web(envcore.make("CartPole-v1")[0], tmp_path, height=HEIGHT)
    with pytest.raises(AssertionError, match="2 is not an action of CartPole"):
        node(tmp_path, module, seed=0, actions=[2], pictures=1)


def test_a_folder_that_is_a_file(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(FileError, match="cannot create"):
        web(envcore.make("CartPole-v1")[0], tmp_path / "file")


def test_actions_of_several_arrays_are_refused(tmp_path):
    @dataclasses.dataclass(frozen=True)
    class Pair(CartPole):
        def action_space(self, params: Any) -> Any:
            return spaces.Tuple((spaces.Discrete(2), spaces.Discrete(2)))

        def transition(self, state: Any, action: Any, draws: Any, params: Any) -> Any:
            return super().transition(state, action[0], draws, params)

    with pytest.raises(InvalidArgumentError, match="web needs actions that are one array, but Pair has 2"):
        web(Pair(), tmp_path)


def test_numbers_of_an_action_in_node(tmp_path):
    module = web(envcore.make("Reacher-misc")[0], tmp_path, height=HEIGHT)
    with pytest.raises(AssertionError, match="1,2,3 is not 2 numbers"):
        node(tmp_path, module, seed=0, actions=[[1, 2, 3]], pictures=1)


def test_a_batch_is_refused(tmp_path):
    with pytest.raises(InvalidArgumentError, match=r"web needs one environment, but .* is a batch"):
        web(Batched(envcore.make("CartPole-v1")[0], 2), tmp_path)
