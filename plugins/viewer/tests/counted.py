"""Five states of a counter, and their pictures."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from toy import Counter, CounterState

ENV = Counter()
PARAMS = ENV.default_params
COUNTS = [0, 1, 1, 2, 3]
STATES = [CounterState(count=jnp.int32(count), time=jnp.int32(time)) for time, count in enumerate(COUNTS)]
TOGETHER = jax.tree.map(lambda *x: jnp.stack(x), *STATES)
TWO = jax.tree.map(lambda x: jnp.stack([x, x[::-1]], 1), TOGETHER)
"""Two environments, the second of which is shown backwards."""


def bar(count: int, height: int = 12) -> np.ndarray:
    return np.asarray(ENV.render(STATES[0].replace(count=count), PARAMS, height=height))


BARS = np.stack([bar(count) for count in COUNTS])
