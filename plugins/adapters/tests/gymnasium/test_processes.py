"""Both adapters in a process of 64 bits, in a forked one, and in those that Gymnasium starts."""

import os
import subprocess
import sys

import pytest


@pytest.mark.slow
def test_in_64_bit_mode():
    program = (
        "import envcore_adapters.gymnasium as eg, numpy as np\n"
        "for env_id in ('CartPole-v1', 'FourRooms-misc', 'Breakout-MinAtar'):\n"
        "    env, envs = eg.GymnasiumEnv(env_id), eg.GymnasiumVectorEnv(env_id, 2)\n"
        "    for each in (env, envs):\n"
        "        each.reset(seed=0)\n"
        "        assert each.step(each.action_space.sample())[0] in each.observation_space\n"
    )
    environment = {**os.environ, "JAX_ENABLE_X64": "1", "JAX_PLATFORMS": "cpu"}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)


UNSTARTED = """
import gymnasium, envcore_adapters.gymnasium
from envcore_adapters.gymnasium import GymnasiumEnv
from jax._src import xla_bridge

for env_id in ("CartPole-v1", "Pendulum-v1", "Breakout-MinAtar", "FrozenLake-misc", "DeepSea-bsuite"):
    gymnasium.make(f"envcore/{env_id}", params={"max_steps_in_episode": 50})
    gymnasium.make_vec(f"envcore/{env_id}", num_envs=3)
env = GymnasiumEnv("CartPole-v1")
assert not xla_bridge._backends
env.reset()
env.unwrapped.state
assert xla_bridge._backends  # that is where they are
"""


def test_no_backend_starts_before_the_first_reset():
    subprocess.run([sys.executable, "-c", UNSTARTED], check=True, env={**os.environ, "JAX_PLATFORMS": "cpu"})


ASYNC = """
import gymnasium, envcore_adapters.gymnasium, jax, warnings
from envcore.errors import EnvcoreError

def made():
    return gymnasium.make_vec(
        "envcore/CartPole-v1", num_envs=2, vectorization_mode="async", vector_kwargs={"context": "fork"}
    )

envs = made()
assert envs.reset(seed=[1, 1])[0].shape == (2, 4)
assert envs.step([0, 1])[1].tolist() == [1, 1]
envs.close()

jax.devices()
warnings.simplefilter("ignore")  # JAX's own, of the fork
envs = made()
try:
    envs.reset()
except EnvcoreError as error:
    assert "'spawn'" in str(error)
else:
    raise AssertionError
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_gymnasiums_processes_are_forked_before_jax_starts_and_refused_afterwards():
    subprocess.run([sys.executable, "-c", ASYNC], check=True, timeout=240, env={**os.environ, "JAX_PLATFORMS": "cpu"})


@pytest.mark.slow
def test_gymnasiums_processes_are_spawned():
    program = (
        "import gymnasium, envcore_adapters.gymnasium\n"
        "if __name__ == '__main__':\n"
        "    make = lambda: gymnasium.make('envcore_adapters.gymnasium:envcore/CartPole-v1')\n"
        "    envs = gymnasium.vector.AsyncVectorEnv([make, make], context='spawn')\n"
        "    assert envs.reset(seed=[1, 1])[0].shape == (2, 4)\n"
        "    assert envs.step([0, 1])[1].tolist() == [1, 1]\n"
        "    envs.close()\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=240, env={**os.environ, "JAX_PLATFORMS": "cpu"})
