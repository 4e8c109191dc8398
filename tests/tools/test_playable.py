"""Environments that play on their pages: in node, and in a browser without a server."""

from __future__ import annotations

import importlib
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import jax
import pytest
from tool_modules import TOOLS

pytest.importorskip("ziglang")  # of the group `full`
pytestmark = pytest.mark.slow
STATIC = TOOLS / "site" / "_static"
NODE = shutil.which("node")
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
TEN_EPISODES = """
const [file, id] = process.argv.slice(1), envcore = {};
eval(require("fs").readFileSync(file, "utf8"));
const [packed, create] = envcore[id];
create(require("zlib").gunzipSync(Buffer.from(packed, "base64")).toString("base64")).then((env) => {
  const returns = new Array(10).fill(0);
  for (const seed of returns.keys())
    for (let step = env.reset(seed); !(step.terminated || step.truncated); returns[seed] += step.reward)
      step = env.step(env.act());
  console.log(JSON.stringify(returns));
});
"""
PRESS_LEFT = """
addEventListener("load", async () => {
  const { player } = document.querySelector(".player");
  const busy = setInterval(() => { for (let i = 0; i < 1e6; ++i); }, 1); // or virtual time does not wait for threads
  await player.start("person");
  const seen = () => player.env.array("state.paddle_x")[0] + player.canvas.toDataURL(), before = seen();
  player.canvas.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft", bubbles: true }));
  while (!player.steps) await new Promise(requestAnimationFrame);
  clearInterval(busy);
  document.title = `from ${before[0]} to ${seen()[0]}, ${before.slice(1) === seen().slice(1) ? "same" : "new"} picture`;
});
"""


@pytest.fixture
def playable(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(STATIC.parent))
    with jax.numpy_rank_promotion("allow"):  # as the networks of users
        yield importlib.import_module("playable")


@pytest.mark.skipif(NODE is None, reason="node is not installed")
@pytest.mark.parametrize("env_id", ["CartPole-v1", "Freeway-MinAtar"])
def test_the_agent_earns_its_return_on_the_page(env_id: str, playable: Any, tmp_path: Path) -> None:
    playable.write(tmp_path, env_id)
    assert (tmp_path / f"{env_id}.js").stat().st_size <= 50_000
    returns = json.loads(output_of(NODE, "-e", TEN_EPISODES, "--", tmp_path / f"{env_id}.js", env_id))
    published = playable.about_agent(env_id).returns
    assert abs(sum(returns) / 10 - published["mean_return"]) <= 2 * published["std_return"] / 10**0.5, returns


@pytest.mark.skipif(BROWSER is None, reason="no browser is installed")
def test_a_key_changes_the_state_in_a_page_without_a_server(playable: Any, tmp_path: Path) -> None:
    shutil.copytree(STATIC, tmp_path / "_static")
    playable.write(tmp_path / "play", "Catch-bsuite")
    page = tmp_path / "page.html"
    page.write_text(f"<img>{playable.player('Catch-bsuite', '.', True)}<script>{PRESS_LEFT}</script>")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=60000", "--dump-dom"]
    assert "<title>from 2 to 1, new picture</title>" in output_of(BROWSER, *options, page.as_uri())


def output_of(*command: Any) -> str:
    return subprocess.run([*map(str, command)], stdout=subprocess.PIPE, text=True, check=True, timeout=120).stdout
