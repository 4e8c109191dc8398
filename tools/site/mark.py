"""The mark of envcore, and the picture that links to the site show: `uv run python tools/site/mark.py` writes both.

The mark is the loop of an environment around its core, with the agent in the gap. It is defined once, by numbers, for
the painting primitives and for SVG.
"""

from __future__ import annotations

import math
from pathlib import Path

import envcore
import jax
import numpy as np
from envcore import painting
from envcore.painting.figures import Layer
from PIL import Image, ImageDraw, ImageFont

SENTENCE = "Reinforcement learning environments as pure JAX functions"
LOOP_ON_DARK = (122, 170, 228)
SVG, PREVIEW = (Path(__file__).with_name("_static") / name for name in ("mark.svg", "preview.png"))

_RADIUS, _WIDTH = 0.34, 0.17  # of the loop, in units of the mark's side
_START, _SWEEP = math.radians(97), math.radians(256)
_AGENT, _AGENT_RADIUS = math.radians(45), 0.13
_CORE_RADIUS = 0.12
_GAMES = ("Asterix", "Breakout", "Freeway", "Seaquest", "SpaceInvaders")
_SIZE, _MARGIN, _TILE = (1200, 630), 65, 198  # of the preview, in pixels


def main() -> None:
    """Writes the files."""
    SVG.write_text(svg())
    preview().save(PREVIEW, optimize=True)


def layers() -> list[Layer]:
    """The mark as layers for `painting.paint`, in a square of side 1 around (0, 0)."""
    agent = _point(_AGENT)
    return [
        (painting.arc((0.0, 0.0), _RADIUS, _START, _SWEEP, _WIDTH), painting.BLUE),
        (painting.circle((0.0, 0.0), _CORE_RADIUS), painting.INK),
        (painting.circle(agent, _AGENT_RADIUS), painting.ORANGE),
    ]


def svg() -> str:
    """The mark as an SVG file, which follows the light or dark preference of its viewer."""
    (x0, y0), (x1, y1), (x, y) = map(_point, (_START, _START + _SWEEP, _AGENT))
    on_dark = f".loop {{ stroke: rgb{LOOP_ON_DARK}; }} .core {{ fill: rgb{painting.PAPER}; }}"
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="-0.5 -0.5 1 1">
<style>
.loop {{ fill: none; stroke: rgb{painting.BLUE}; stroke-width: {_WIDTH}; stroke-linecap: round; }}
.core {{ fill: rgb{painting.INK}; }}
.agent {{ fill: rgb{painting.ORANGE}; }}
@media (prefers-color-scheme: dark) {{ {on_dark} }}
</style>
<path class="loop" d="M {x0:.4f} {-y0:.4f} A {_RADIUS} {_RADIUS} 0 1 0 {x1:.4f} {-y1:.4f}"/>
<circle class="core" r="{_CORE_RADIUS}"/>
<circle class="agent" cx="{x:.4f}" cy="{-y:.4f}" r="{_AGENT_RADIUS}"/>
</svg>
"""


def preview() -> Image.Image:
    """The mark, the name, what envcore is, and five games."""
    picture = Image.new("RGB", _SIZE, painting.PAPER)
    window = painting.Window((0.0, 0.0), 1.0, 1.0)
    picture.paste(Image.fromarray(np.asarray(painting.paint(250, window, *layers()))), (_MARGIN - 20, 45))
    canvas = ImageDraw.Draw(picture)
    canvas.text((330, 80), "envcore", painting.INK, ImageFont.load_default(110))
    canvas.text((336, 222), SENTENCE, painting.INK, ImageFont.load_default(30))
    gap = (_SIZE[0] - 2 * _MARGIN - len(_GAMES) * _TILE) // (len(_GAMES) - 1)
    for index, game in enumerate(_GAMES):
        tile = Image.fromarray(_in_play(f"{game}-MinAtar"))
        picture.paste(tile, (_MARGIN + index * (_TILE + gap), _SIZE[1] - _MARGIN - _TILE))
    return picture


def _in_play(env_id: str) -> np.ndarray:
    """A picture of an environment after 40 random steps."""
    env, params = envcore.make(env_id)
    key = jax.random.key(3)
    _, state = env.reset(key, params)
    for key_step in jax.random.split(key, 40):
        action = env.action_space(params).sample(key_step)
        _, state, *_ = env.step(key_step, state, action, params)
    return np.asarray(env.render(state, params, height=_TILE))


def _point(angle: float) -> tuple[float, float]:
    """The point of the loop at an angle, y up."""
    return _RADIUS * math.cos(angle), _RADIUS * math.sin(angle)


if __name__ == "__main__":
    main()
