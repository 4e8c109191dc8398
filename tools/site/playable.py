"""Environments that you play on their pages: rules and picture as WebAssembly, and a trained agent to watch."""

from __future__ import annotations

import base64
import concurrent.futures
import gzip
import html
import json
import multiprocessing
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import envcore
import envcore_baselines
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from envcore_baselines import ppo
from envcore_baselines.trained import AboutAgent, TrainedAgent, names, path_of
from envcore_native import web
from envcore_runs import checkpoint
from envcore_viewer.controls import Controls
from suites import NEEDS_DATA, our_environments

_HEIGHT = 320  # of the picture, in pixels
_LARGEST_AGENT = 200_000  # bytes: Pong's, whose first layer reads 3,600 pixels, takes too long to load and to compile


def make(folder: Path) -> None:
    """Makes `ID.js` for every environment of our suites that has none yet, except for those that download data."""
    ids = [each.spec.id for each in our_environments() if each.spec.id not in NEEDS_DATA]
    missing = [env_id for env_id in ids if not (folder / f"{env_id}.js").exists()]
    # Processes, because most of the time goes into tracing, which holds the interpreter's lock.
    with concurrent.futures.ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
        list(pool.map(write, [folder] * len(missing), missing))


def write(folder: Path, env_id: str) -> None:
    """Writes `ID.js`, a classic script: pages that are opened as files cannot load modules.

    The WebAssembly is compressed, which halves the file.
    """
    agent = envcore_baselines.load(env_id) if about_agent(env_id) else None
    env, params = (agent.env, agent.params) if agent else envcore.make(env_id)
    policy = _policy(agent) if agent else None
    with tempfile.TemporaryDirectory() as made:
        first, _, module = web(env, made, params, policy=policy, height=_HEIGHT).read_text().partition("\n")
    packed = base64.b64encode(gzip.compress(base64.b64decode(first.split('"')[1]), mtime=0)).decode()
    script = f"{module.replace('export async', 'async')}\nreturn create();"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{env_id}.js").write_text(f'envcore["{env_id}"] = ["{packed}", (MODULE) => {{\n{script}\n}}];\n')


def about_agent(env_id: str) -> AboutAgent | None:
    """The trained agent that plays on the page. None if there is none, if it is large, or if it has a memory."""
    if env_id not in names() or path_of(env_id).stat().st_size > _LARGEST_AGENT:
        return None
    about = checkpoint.load(path_of(env_id), AboutAgent)[1]
    return None if about.run.config.get("memory") else about


def lines(env_id: str, root: str, modules: Path) -> list[str]:
    """Returns the environment's picture, its player and a line about it, as Markdown.

    Args:
      env_id: the environment.
      root: the path from the page to the site's first page.
      modules: the folder that `make` wrote to. Without the environment's module there is no player.
    """
    found = [f"```{{image}} {root}/pictures/{env_id}.webp", ":class: environment"]
    found += [f":alt: {env_id}, played by a trained agent or at random", "```", ""]
    module = modules / f"{env_id}.js"
    if not module.exists():
        return found
    agent = about_agent(env_id)
    size = len(gzip.compress(module.read_bytes())) // 1000  # as web servers send it
    text = f"Your browser runs the same JAX code, compiled to {size} kB of compressed WebAssembly. "
    text += "A test compares every integer with JAX."
    if agent:
        learned = f"`{agent.run.algorithm}` for {agent.run.config['total_steps']:,} steps"
        earned = "{mean_return:.4g} ± {std_return:.3g} over {episodes:,} episodes".format(**agent.returns)
        text += (
            f" The agent learned with {learned}. Its mean return is {earned}. Here its weights are rounded to 7 bits."
        )
    found += ["```{raw} html", player(env_id, root, agent is not None), "```", ""]
    return [*found, "```{div} took", text, "```", ""]


def player(env_id: str, root: str, has_agent: bool) -> str:
    """What `play.js` makes a player of; its keys are those of `envcore play`."""
    env, params = envcore.make(env_id)
    controls = Controls(env, params)
    by_action: dict[str, list[str]] = {}
    for key, action in controls.values.items():
        by_action.setdefault(json.dumps(np.asarray(action).tolist()), []).append(key)
    about: dict[str, Any] = {
        "id": env_id,
        "file": f"{root}/play/{env_id}.js",
        "fps": env.render_fps,
        "idle": None if controls.idle is None else np.asarray(controls.idle).tolist(),
        "hasAgent": has_agent,
        "controls": [
            {"action": json.loads(action), "keys": keys, "shown": shown, "name": name}
            for (action, keys), (shown, name) in zip(by_action.items(), controls.help, strict=True)
        ],
    }
    script = f'<script defer src="{root}/_static/play.js"></script>'
    return f'<div class="player" data-about="{html.escape(json.dumps(about))}"></div>\n{script}'


def _policy(agent: TrainedAgent) -> Callable[[Any, jax.Array], Any]:
    def policy(obs: Any, key: jax.Array) -> Any:
        with nn.intercept_methods(_small):
            return agent.policy(None, obs, key)

    return policy


def _small(method: Any, args: Any, kwargs: Any, context: nn.module.InterceptorContext) -> Any:
    """Layers as little WebAssembly: weights rounded to 7 bits, and a convolution as one product of patches and kernel.

    As C, the banded matrix of a convolution is ten thousand lines.
    """
    if not isinstance(context.module, ppo.Convolution | nn.Dense):
        return method(*args, **kwargs)
    inputs, weights = args[0], context.module.variables["params"]
    kernel = np.asarray(weights["kernel"])
    if isinstance(context.module, ppo.Convolution):
        images = jnp.pad(inputs, [(0, 0), *((0, size % 2) for size in inputs.shape[1:3]), (0, 0)])
        number, height, width, channels = images.shape
        pixels = np.arange(height * width).reshape(height, width)
        places = np.lib.stride_tricks.sliding_window_view(pixels, (4, 4))[::2, ::2]
        patches = images.reshape(number, -1, channels)[:, places.reshape(-1, 16)]
        inputs = patches.reshape(number, *places.shape[:2], 16 * channels)
        kernel = kernel.reshape(16 * channels, -1)
    scale = np.abs(kernel).max(axis=0) / 63
    rounded = jnp.asarray(np.round(kernel / scale).astype(np.int8))
    return inputs @ rounded.astype(jnp.float32) * scale + weights["bias"]
