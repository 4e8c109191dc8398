"""`install` makes `import gymnax` find envcore-gymnax, in a process of its own."""

import subprocess
import sys

import pytest

USES = """
import gymnax, gymnax.environments, gymnax.experimental, gymnax.visualize, gymnax.wrappers.gym
from gymnax import EnvParams, EnvState, make
from gymnax.environments import CartPole, EnvState, environment, spaces
from gymnax.environments.classic_control import Pendulum
from gymnax.environments.classic_control.cartpole import CartPole as SameCartPole, EnvParams as CartPoleParams
from gymnax.environments.minatar import breakout
from gymnax.environments.environment import Environment, EnvParams
from gymnax.environments.spaces import Box, Discrete, Dict, gymnax_space_to_gym_space
from gymnax.experimental import RolloutWrapper
from gymnax.registration import registered_envs
from gymnax.visualize import Visualizer, visualizer
from gymnax.wrappers import FlattenObservationWrapper, GymnaxToGymWrapper, GymnaxToVectorGymWrapper, LogWrapper
from gymnax.wrappers import GymnaxToDmEnvWrapper, LegacyStepAPIWrapper, StickyActionWrapper, compat, dm_env, gym
from gymnax.wrappers.purerl import GymnaxWrapper, Optional, Tuple, Union, chex, environment, partial, spaces
import envcore_gymnax.environments.environment as ours
assert ours.Environment is Environment and isinstance(CartPole(), Environment)
assert sys.modules["gymnax.environments.environment"] is ours
assert ours.__name__ == ours.__spec__.name == "envcore_gymnax.environments.environment"
assert isinstance(make("CartPole-v1")[0].action_space(), Discrete)
assert SameCartPole is CartPole and isinstance(make("CartPole-v1")[1], CartPoleParams)
assert issubclass(breakout.MinBreakout, Environment)
"""


def run(program):
    return subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_every_module_path_of_gymnax():
    done = run("import sys, envcore_gymnax\n" + "envcore_gymnax.install()\n" * 2 + USES)
    assert done.returncode == 0, done.stderr


def test_a_module_that_gymnax_does_not_have():
    done = run("import envcore_gymnax\nenvcore_gymnax.install()\nimport gymnax.nonsense")
    assert done.stderr.splitlines()[-1] == "ModuleNotFoundError: No module named 'gymnax.nonsense'"


def test_gymnax_is_imported_already(tmp_path):
    (tmp_path / "gymnax.py").write_text("")
    done = run(
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\nimport gymnax, envcore_gymnax\nenvcore_gymnax.install()"
    )
    assert "EnvcoreError: gymnax is imported already, from" in done.stderr


def test_uninstall(tmp_path):
    (tmp_path / "gymnax.py").write_text("real = True")
    done = run(
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\nimport envcore_gymnax\nenvcore_gymnax.install()\n"
        "import gymnax; assert gymnax is envcore_gymnax\n"
        "envcore_gymnax.uninstall()\nimport gymnax; assert gymnax.real"
    )
    assert done.returncode == 0, done.stderr


def test_six_values():
    done = run(
        "import envcore_gymnax, jax\nenvcore_gymnax.install(six_values=True)\nimport gymnax\n"
        "env, params = gymnax.make('CartPole-v1')\nkey = jax.random.key(0)\n_, state = env.reset(key, params)\n"
        "assert len(env.step(key, state, 0, params)) == 6"
    )
    assert done.returncode == 0, done.stderr
