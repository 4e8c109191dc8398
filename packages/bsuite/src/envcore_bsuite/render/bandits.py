"""Pictures of the bandits: uint8 (height, width, 3)."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from envcore import painting
from envcore.painting import figures
from envcore.typing import ArrayParam

from envcore_bsuite.render.parts import beads, regret

_CARD: painting.Color = (255, 255, 255)


@painting.picture
def paint_bandit(height: int, total_regret: jax.Array, rewards: ArrayParam) -> jax.Array:
    """Paints a bar for each arm's reward, on a scale of at least 0 to 1, the best in green, and the regret below.

    The width is 3/2 of the height. `total_regret` is float32 (), `rewards` float32 (arms,).
    """
    arms = len(rewards)
    window = painting.Window.around(x=(-0.06 * arms, 1.06 * arms), y=(-0.17 * arms, 0.61 * arms), aspect=1.5)
    low, high = jnp.minimum(rewards.min(), 0.0), jnp.maximum(rewards.max(), 1.0)
    tall = 0.5 * arms
    scale = tall / (high - low)
    color = figures.by_column(rewards == rewards.max(), painting.GREEN, painting.BLUE)

    return painting.paint(
        height,
        window,
        (figures.bars(np.full(arms, tall)), painting.SHADE),
        (painting.scaled(figures.bars(rewards * scale), (0.0, -low * scale), 1.0), color),
        (painting.text("REWARD OF EACH ARM", (0.02 * arms, 0.53 * arms), 0.045 * arms), painting.INK),
        *regret((0.05 * arms, -0.09 * arms), 0.9 * arms, total_regret, 0.05 * arms),
    )


@painting.picture
def paint_mnist(
    height: int, images: ArrayParam, index: jax.Array, correct_label: jax.Array, total_regret: jax.Array
) -> jax.Array:
    """Paints the image, a row of ten dots for the digits with the correct one in green, and the regret below.

    One unit is a pixel of the image. The width is 7/8 of the height.

    Args:
      height: height of the picture.
      images: uint8 or int8 (n, side, side).
      index: index of the image to show, int32 ().
      correct_label: int32 ().
      total_regret: float32 ().
    """
    side = images.shape[-1]
    image = images[index].astype(jnp.uint8).astype(jnp.float32)  # restores the original values of int8 pixels
    place = 1.4 + 2.8 * correct_label.astype(jnp.float32)
    window = painting.Window.around(x=(-2.0, side + 2.0), y=(-8.0, side + 2.0), aspect=0.875)
    return painting.paint(
        height,
        window,
        (painting.box((side / 2, side / 2), (side, side)), painting.shades(image / 255, low=_CARD)),
        (beads((1.4, -2.4), 2.8, 9, 0.75), painting.STONE),
        (painting.circle((place, -2.4), 1.2), painting.GREEN),
        *regret((0.9, -5.8), side - 1.8, total_regret, 1.6),
    )
