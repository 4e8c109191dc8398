"""Forked processes: what would hang raises, and what would not works."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")

PROGRAM = """
import os, sys, warnings
import jax, envcore
from envcore import choice
from envcore.errors import EnvcoreError
sys.path.insert(0, {folder!r})
from toy import Counter

warnings.simplefilter("ignore")  # JAX's own, of the fork
env = Counter()
if {is_started}:
    key = jax.random.key(0)
    _, state = env.reset(key)
    env.step(key, state, 1)
child = os.fork()
if child:
    assert os.waitpid(child, 0)[1] == 0
    if {is_started}:
        env.step(key, state, 1)  # the parent goes on
    sys.exit()
if not {is_started}:
    key = jax.random.key(0)
    _, state = env.reset(key)
    env.step(key, state, 1)
    os._exit(0)
calls = [
    lambda: env.reset(key),
    lambda: env.step(key, state, 1),
    lambda: env.step_env(key, state, 1),
    lambda: choice.chosen(env, None, {{}}),
]
for call in calls:
    try:
        call()
        os._exit(1)
    except EnvcoreError as error:
        assert "forked after JAX had started" in str(error)
        assert "\\n" not in str(error)
os._exit(0)
"""


@pytest.mark.parametrize("is_started", [False, True])
def test_a_child(is_started):
    program = PROGRAM.format(is_started=is_started, folder=str(Path(__file__).parent))
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120, env={**os.environ, "JAX_PLATFORMS": "cpu"})
