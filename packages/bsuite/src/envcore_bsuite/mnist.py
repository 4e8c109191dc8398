"""MNISTBandit-bsuite, after bsuite 0.3.6 `environments/mnist.py`."""

from __future__ import annotations

import dataclasses
import functools
from typing import Annotated, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from envcore import random, spaces
from envcore.environment import EnvParams, EnvState
from envcore.fusion import compute_once
from envcore.typing import ArrayParam, Int
from flax import struct

from envcore_bsuite import mnist_data
from envcore_bsuite.base import BsuiteEnvironment
from envcore_bsuite.mnist_data import CLASSES, SIDE

# Their product is 1 / 255, and pixel * _NEARLY is exact. XLA replaces a division by 255 with a multiplication by
# 1 / 255 in float32, which gives 126 of the 256 quotients a wrong last bit.
_NEARLY, _REST = np.float32(257 / 2**16), np.float32(1 / (255 * 2**16))


@struct.dataclass
class MNISTBanditState(EnvState):
    """State of `MNISTBandit`.

    Attributes:
      index: index of the image.
      correct_label: label of the image.
      total_regret: regret over all episodes.
    """

    index: Int
    correct_label: Int
    total_regret: Int


@struct.dataclass
class MNISTBanditParams(EnvParams):
    """Params of `MNISTBandit`: the n images in use.

    Attributes:
      images: pixels of each image, int8 with `signed_pixels`.
      labels: label of each image.
    """

    images: Annotated[ArrayParam, "uint8 (n, 28, 28)"]
    labels: Annotated[ArrayParam, "int32 (n,)"]


@dataclasses.dataclass(frozen=True)
class MNISTBandit(BsuiteEnvironment[MNISTBanditState, MNISTBanditParams]):
    """MNISTBandit-bsuite: name the digit in one of MNIST's images.

    Original: bsuite 0.3.6 `environments/mnist.py`, Osband et al. (2020), "Behaviour suite for reinforcement learning".
    The images are from LeCun, Cortes & Burges (1998), "The MNIST database of handwritten digits".

    Observation: float32 (28, 28), pixel / 255 of a random image. After the end of the episode all are 0.
    Action: the digit, 0 to 9.
    Reward: 1 for the right digit, else -1.
    Termination: after every step.

    bsuite's `total_regret` is the sum of 1 - reward over all steps since `reset`. It is a field of the state that is
    kept over auto-resets, and an entry of `info`.

    The images are part of the params, and are stored once on the device for all environments that share them. Pass
    params to your jitted functions as an argument. Otherwise the images become constants of the program.

    Deviations: bsuite reads pixels as int8, so values from 128 to 255 become -128 to -1. Here this happens only with
    `signed_pixels`.

    Constructing the environment reads the images.

    Attributes:
      fraction: fraction of the images to use, starting at the first, in (0, 1].
      signed_pixels: read pixels as int8, as bsuite does.
      folder: folder with images in MNIST's format, by default MNIST itself. See `mnist_data.load_mnist`.

    Raises:
      ValueError: an option is out of range, or selects no image.
      DatasetError: the images are unavailable.
    """

    lifetime: ClassVar[tuple[str, ...]] = ("total_regret",)
    render_fps: ClassVar[float] = 2

    fraction: float = 1.0
    signed_pixels: bool = False
    folder: str | None = None
    _source: mnist_data.Source = dataclasses.field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not 0 < self.fraction <= 1:
            raise ValueError(f"fraction must be above 0 and at most 1, got {self.fraction}")
        if not isinstance(self.signed_pixels, bool):
            raise ValueError(f"signed_pixels must be True or False, got {self.signed_pixels!r}")
        object.__setattr__(self, "_source", mnist_data.locate(self.folder))
        if self._count < 1:
            raise ValueError(f"fraction={self.fraction} keeps none of the images in {self._source.folder}")

    @property
    def _count(self) -> int:
        """The number of images in use."""
        return int(self.fraction * len(mnist_data.load(self._source).labels))

    @property
    def default_params(self) -> MNISTBanditParams:
        return _on_device(self._source, self._count, self.signed_pixels)

    def action_space(self, params: MNISTBanditParams) -> spaces.Discrete:
        return spaces.Discrete(CLASSES)

    def observation_space(self, params: MNISTBanditParams) -> spaces.Box:
        pixels = np.iinfo(np.int8 if self.signed_pixels else np.uint8)
        return spaces.Box(pixels.min / 255, pixels.max / 255, (SIDE, SIDE))

    def state_space(self, params: MNISTBanditParams) -> spaces.Dict:
        image = {"index": spaces.Discrete(self._count), "correct_label": spaces.Discrete(CLASSES)}
        return spaces.Dict({**image, **dict.fromkeys(("total_regret", "time"), spaces.NATURAL_NUMBERS)})

    def draw_start(self, key: jax.Array, params: MNISTBanditParams) -> Int:
        """Draws the index of the image."""
        return random.integers(random.bits(key), len(params.labels))

    def init_state(self, draws: Int, params: MNISTBanditParams) -> MNISTBanditState:
        label = jnp.asarray(params.labels).at[draws].get(mode="promise_in_bounds")
        return MNISTBanditState(index=draws, correct_label=label, total_regret=jnp.int32(0))

    def transition(
        self, state: MNISTBanditState, action: jax.Array, draws: jax.Array, params: MNISTBanditParams
    ) -> tuple[MNISTBanditState, jax.Array, bool, dict[str, jax.Array]]:
        is_right = action == state.correct_label
        state = state.replace(total_regret=state.total_regret + 2 * (~is_right).astype(jnp.int32))
        return state, jnp.where(is_right, 1.0, -1.0), True, self.counters(state, params)

    def observe(self, state: MNISTBanditState, params: MNISTBanditParams) -> jax.Array:
        return compute_once(_picture, params.images, state.index, state.time == 0).reshape(SIDE, SIDE)

    def counters(self, state: MNISTBanditState, params: MNISTBanditParams) -> dict[str, jax.Array]:
        return {"total_regret": state.total_regret.astype(jnp.float32)}

    def render(self, state: MNISTBanditState, params: MNISTBanditParams, height: int = 256) -> jax.Array:
        from envcore_bsuite.render.bandits import paint_mnist

        regret = state.total_regret.astype(jnp.float32)
        return paint_mnist(height, params.images, state.index, state.correct_label, regret)


def _picture(images: ArrayParam, index: jax.Array, is_shown: jax.Array) -> jax.Array:
    """Returns an image as an observation, float32 (784,), or zeros. Shape (28, 28) would take twice as long on CPU."""
    pixels = jnp.asarray(images).reshape(-1, SIDE * SIDE).at[index].get(mode="promise_in_bounds")
    pixels = pixels.astype(jnp.float32)
    return jnp.where(is_shown, pixels * _NEARLY + pixels * _REST, 0.0)


@functools.lru_cache(maxsize=32)
def _on_device(source: mnist_data.Source, count: int, signed_pixels: bool) -> MNISTBanditParams:
    images, labels = mnist_data.load(source)
    images = images[:count].view(np.int8) if signed_pixels else images[:count]
    with jax.ensure_compile_time_eval():  # returns arrays, not tracers, even if the first use is in a traced function
        return MNISTBanditParams(images=jnp.asarray(images), labels=jnp.asarray(labels[:count], jnp.int32))
