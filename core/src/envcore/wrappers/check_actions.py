"""`CheckActions`: finds actions outside the action space."""

from __future__ import annotations

import dataclasses

import jax
import numpy as np

from envcore.environment import Outcome
from envcore.errors import InvalidActionError
from envcore.typing import PyTree
from envcore.wrappers.base import Wrapper


@dataclasses.dataclass(frozen=True)
class CheckActions(Wrapper):
    """Checks the value of every action and raises where it is outside the action space, or nan. For debugging.

    The environment itself never reads what a JAX array holds, because that would wait for the device. This sends every
    action through the host (`jax.pure_callback`), also in a compiled program, under `vmap` and in a `scan`. At the
    first invalid action the program fails with a `jax.errors.JaxRuntimeError`, or a `ValueError`, as JAX decides, that
    contains the message of an `InvalidActionError`. Programs run asynchronously, so the error comes at the latest where
    you wait for a result, as by `jax.block_until_ready`. It does not say which step failed; of a batch it names the
    first invalid action. An action on which no computed result depends is not checked: XLA deletes what is not used.

    It checks what reaches it: around `ClipAction` the action as given, inside it the clipped one.
    """

    def advance(self, state: PyTree, action: PyTree, draws: PyTree, params: PyTree) -> Outcome:
        return self.env.advance(state, self._passed(action, params), draws, params)

    def _passed(self, action: PyTree, params: PyTree) -> PyTree:
        """The action, unchanged, after the host has checked it."""
        struct = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), action)

        def look(inside: jax.Array, action: PyTree) -> PyTree:
            self._raise_unless(inside, action)
            return action

        @jax.custom_jvp  # callbacks have no derivative; this one is the identity
        def passed(inside: jax.Array, action: PyTree) -> PyTree:
            return jax.pure_callback(look, struct, inside, action, vmap_method="broadcast_all")

        passed.defjvp(lambda primals, tangents: (passed(*primals), tangents[1]))
        inside = self.over_batch(self.single(self.env.action_space(params)).contains)(action)
        return passed(inside, action)

    def _raise_unless(self, inside: jax.Array, action: PyTree) -> None:
        flags = np.asarray(inside)
        if flags.all():
            return
        index = tuple(int(i) for i in np.argwhere(~flags)[0])
        value = jax.tree.map(lambda x: np.asarray(x)[index].tolist(), action)
        where = f" at {list(index)} of the batch" if index else ""
        raise InvalidActionError(f"an action of {self.name} is outside its action space: got {value}{where}.")
