"""Compares the speed of pixel observations with gymnasium's `rgb_array`: `uv run python tools/pixels --help`.

Both take random actions and reset automatically, in one process, alternating. gymnasium steps one environment and
renders it at its own size, which an agent would still have to downscale. envcore steps a batch inside one compiled
`scan`; its frames are summed, so that XLA has to compute them. It reports the median frames per second, and their ratio
to gymnasium's.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")

import envcore
import gymnasium
from envcore.rollout import random_policy, run_rollout, start_rollout
from envcore.wrappers import Batched, FrameStack, PixelObservation

IDS = ("CartPole-v1", "Pendulum-v1", "Acrobot-v1", "MountainCar-v0", "MountainCarContinuous-v0")
GYMNASIUM = "gymnasium, its own size"


def main() -> None:
    """Parses the command line, measures and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ids", nargs="*", default=IDS, help=f"environments (default: {', '.join(IDS)})")
    parser.add_argument("--size", type=int, default=84, help="side of the square frames, in pixels")
    parser.add_argument("--num-envs", type=int, default=64)
    parser.add_argument("--frames", type=int, default=6400, help="frames of envcore in a timed run")
    parser.add_argument("--gymnasium-frames", type=int, default=300, help="frames of gymnasium in a timed run")
    parser.add_argument("--repeats", type=int, default=7, help="timed runs of each program")
    args = parser.parse_args()
    print("| environment | program | frames/s | ratio |\n|---|---|---|---|")
    for env_id in args.ids:
        rates = measure(env_id, args.size, args.num_envs, args.frames, args.gymnasium_frames, args.repeats)
        for name, rate in rates.items():
            print(f"| {env_id} | {name} | {rate:,.0f} | {rate / rates[GYMNASIUM]:.1f} |", flush=True)


def measure(
    env_id: str, size: int, num_envs: int, frames: int, gymnasium_frames: int, repeats: int
) -> dict[str, float]:
    """Frames per second of each program, by name."""
    env, _ = envcore.make(env_id)
    square = (size, size)
    programs: dict[str, tuple[int, Callable[[], Any]]] = {
        GYMNASIUM: (gymnasium_frames, _gymnasium(env_id, gymnasium_frames)),
        f"envcore, {size} x {size}": (frames, _envcore(PixelObservation(env, square), num_envs, frames)),
        f"envcore, {size} x {size} gray, 4 stacked": (
            frames,
            _envcore(FrameStack(PixelObservation(env, square, grayscale=True), 4), num_envs, frames),
        ),
        f"envcore, {size} high, its own width": (frames, _envcore(env, num_envs, frames, height=size)),
    }
    seconds: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(repeats):
        for name, (_, run) in programs.items():
            started = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - started)
    return {name: count / statistics.median(seconds[name]) for name, (count, _) in programs.items()}


def _gymnasium(env_id: str, frames: int) -> Callable[[], Any]:
    env = gymnasium.make(env_id, render_mode="rgb_array")
    env.reset(seed=0)
    env.action_space.seed(0)
    env.render()

    def run() -> None:
        for _ in range(frames):
            _, _, terminated, truncated, _ = env.step(env.action_space.sample())
            env.render()
            if terminated or truncated:
                env.reset()

    return run


def _envcore(env: envcore.Environment, num_envs: int, frames: int, height: int = 0) -> Callable[[], Any]:
    """A rollout that sums its observations, or its pictures if a height is given."""
    batch = Batched(env, num_envs)

    def seen(transition: Any) -> jax.Array:
        pixels = batch.render(transition.state, batch.default_params, height=height) if height else transition.obs
        return pixels.astype(jnp.int32).sum()

    def rollout(key: jax.Array) -> Any:
        start = start_rollout(batch, key)
        return run_rollout(batch, random_policy(batch), start, max(1, frames // num_envs), collect=seen)[1]

    compiled = jax.jit(rollout).lower(jax.random.key(0)).compile()
    jax.block_until_ready(compiled(jax.random.key(0)))
    return lambda: jax.block_until_ready(compiled(jax.random.key(1)))


if __name__ == "__main__":
    main()
