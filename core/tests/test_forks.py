"""Forked processes: what would hang raises, and what would not works."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import toy

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")

PARENT = """
import os, sys, warnings
import envcore, jax
sys.path.insert(0, {folder!r})

def play():
    global env, key, state
    from envcore.rollout import start_rollout
    from toy import Counter

    key, env = jax.random.key(0), Counter()
    _, state = env.reset(key)
    env.step(key, state, 1)
    start_rollout(env, key)

warnings.simplefilter("ignore")  # JAX's own, of the fork
{before}
child = os.fork()
if child:
    assert os.waitpid(child, 0)[1] == 0
    play()  # the parent goes on
    sys.exit()
{inside}
os._exit(0)
"""

RAISES = """
from envcore.errors import EnvcoreError
from envcore.random import key_of
from envcore.rollout import start_rollout
calls = [
    lambda: key_of(2**40),
    lambda: env.reset(key),
    lambda: env.step(key, state, 1),
    lambda: env.step_env(key, state, 1),
    lambda: start_rollout(env, key),
]
for call in calls:
    try:
        call()
        os._exit(1)
    except EnvcoreError as error:
        assert "forked after JAX had started" in str(error)
        assert "\\n" not in str(error)
"""


@pytest.mark.parametrize(
    ("before", "inside"),
    [
        pytest.param("", "play()", id="before JAX starts"),
        pytest.param("play()", RAISES, id="after JAX has started"),
    ],
)
def test_a_child(before, inside):
    program = PARENT.format(folder=str(Path(toy.__file__).parent), before=before, inside=inside)
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300, env={**os.environ, "JAX_PLATFORMS": "cpu"})
