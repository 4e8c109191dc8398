"""Environments that play on their pages: in node, and in a browser without a server."""

from __future__ import annotations

import importlib
import json
import shutil
import subprocess
from collections.abc import Generator
from pathlib import Path
from typing import Any

import jax
import pytest
from tool_modules import TOOLS

pytest.importorskip("ziglang")
SITE = TOOLS / "site"
NODE = shutil.which("node")
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
EPISODES = 10
PLAY = """
const [file, id, episodes] = process.argv.slice(1);
globalThis.envcore = {};
require("vm").runInThisContext(require("fs").readFileSync(file, "utf8"));
const [packed, create] = envcore[id];
create(require("zlib").gunzipSync(Buffer.from(packed, "base64")).toString("base64")).then((env) => {
  const returns = [];
  for (let seed = 0; seed < episodes; ++seed) {
    env.reset(seed);
    for (let isOver = false, total = 0; !isOver; returns[seed] = total) {
      const { reward, terminated, truncated } = env.step(env.act());
      [isOver, total] = [terminated || truncated, total + reward];
    }
  }
  console.log(JSON.stringify(returns));
});
"""
PRESS = """
addEventListener("load", async () => {
  const { player } = document.querySelector(".player"), seen = [];
  await player.start("person");
  const see = () => seen.push([player.env.array("state.paddle_x")[0], player.canvas.toDataURL()]);
  see();
  player.canvas.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft", bubbles: true }));
  while (!player.steps) await new Promise(requestAnimationFrame);
  see();
  document.title = JSON.stringify([seen[0][0], seen[1][0], seen[0][1] !== seen[1][1]]);
});
"""


@pytest.fixture
def playable(monkeypatch: pytest.MonkeyPatch) -> Generator[Any]:
    monkeypatch.syspath_prepend(str(SITE))
    with jax.numpy_rank_promotion("allow"):  # as the networks of users
        yield importlib.import_module("playable")


@pytest.mark.skipif(NODE is None, reason="node is not installed")
@pytest.mark.parametrize(
    "env_id",
    [
        "CartPole-v1",
        *(pytest.param(f"{name}-MinAtar", marks=pytest.mark.slow) for name in ("Breakout", "SpaceInvaders")),
    ],
)
def test_the_agent_earns_its_return_on_the_page(env_id: str, playable: Any, tmp_path: Path) -> None:
    playable.write(tmp_path, env_id)
    command = [str(NODE), "-e", PLAY, "--", str(tmp_path / f"{env_id}.js"), env_id, str(EPISODES)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    returns, agent = json.loads(done.stdout), playable.agent_of(env_id)
    assert abs(sum(returns) / EPISODES - agent.mean_return) <= 2 * agent.std_return / EPISODES**0.5, returns


@pytest.mark.skipif(BROWSER is None, reason="no browser is installed")
def test_a_key_changes_the_state_in_a_page_without_a_server(playable: Any, tmp_path: Path) -> None:
    (tmp_path / "play").mkdir()
    playable.write(tmp_path / "play", "Catch-bsuite")
    shutil.copytree(SITE / "_static", tmp_path / "_static")
    page = tmp_path / "page.html"
    page.write_text(f"<title></title><img>{playable.player('Catch-bsuite', '.', True)}<script>{PRESS}</script>")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=10000", "--dump-dom"]
    done = subprocess.run(
        [str(BROWSER), *options, page.as_uri()], capture_output=True, text=True, check=True, timeout=120
    )
    assert "<title>[2,1,true]</title>" in done.stdout
