"""`web`: compiles an environment to WebAssembly, for pages without a server."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
from envcore import files
from envcore.engine import arguments
from envcore.environment import Environment
from envcore.errors import FileError, InvalidArgumentError
from envcore.typing import PyTree

from envcore_native import c, compiler, function, rowwise, turns

_EXPORTS = """
static void keep(void) {
  copy_row(arrays, 0, SHARED, OUT, state_bytes, STATES);
  array_0[0] = ((uint32*)arrays[OUT - 1])[0], array_0[1] = ((uint32*)arrays[OUT - 1])[1];
}
WEB(address) void* address(int32 place) { return arrays[place]; }
WEB(reset) void reset(uint32 seed) {
  array_0[0] = 0, array_0[1] = seed, array_1[0] = array_1[1] = array_1[2] = false;
  envcore_start(0, 1, arrays);
  keep();
}
WEB(step) int32 step(void) {
  const int32 ended = envcore_play(0, 1, arrays);
  if (ended >= 0) keep();
  return ended;
}
WEB(render) void render(void) { envcore_render(0, 1, drawn); }
"""
_ACT = """
WEB(act) void act(void) { envcore_act(0, 1, acted); }
"""


def web(
    env: Environment,
    folder: str | Path,
    params: PyTree = None,
    *,
    policy: Callable[[PyTree, jax.Array], PyTree] | None = None,
    height: int = 256,
) -> Path:
    """Writes an ES module that runs an environment in the browser and in Node.js.

        import { create } from "./CartPole.js";
        const env = await create();
        env.reset(7);
        const { obs, reward, terminated, truncated } = env.step(1);
        env.draw(canvas);

    The module contains the rules and the renderer as WebAssembly, and has no dependencies. With the same seed and
    actions, integers and bools equal the results of `Stepper(env, autoreset="disabled")` after `start` with the key
    data `[0, seed]`.

    Args:
      env: one environment, with or without wrappers. Batches are refused.
      folder: the folder for `NAME.js`, which is created if necessary.
      params: the environment's params, or a mapping of the fields that differ from the defaults.
      policy: a function of one observation and a random key that returns an action. The module then has `act()`.
      height: height of the rendered image, in pixels.

    Returns:
      The path of the module.

    Raises:
      InvalidArgumentError: the environment is a batch, has actions of several arrays, or uses an operation that
        envcore-native doesn't support.
      CompilerError: the WebAssembly compiler is missing or fails.
      FileError: the folder or the file cannot be written.
    """
    if env.batch_shape:
        raise InvalidArgumentError(f"web needs one environment, but {env.name} is a batch: remove Batched.")
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot create {folder}: {error.strerror or error}.") from error
    params = arguments.checked_params(env, arguments.with_updates(env, params))
    code = rowwise.code(env, "disabled", turns.count_up)
    render = function.lower(
        "envcore_render", lambda shared, row: ((), env.render(row[0], shared[2], height)), code.shared, code.row
    )
    view, (one, *others) = code.turn.view, jax.tree.leaves(code.row[1])
    if others:
        raise InvalidArgumentError(f"web needs actions that are one array, but {env.name} has {1 + len(others)}.")
    taken = jax.ShapeDtypeStruct(one.shape, code.staged)
    trees: dict[str, PyTree] = {"shared": code.shared, "row": code.row, "key": code.shared[0], **view._asdict()}
    trees |= zip(("reward", "terminated", "truncated"), code.turn[1:], strict=True)
    trees |= {"done": jax.ShapeDtypeStruct((), np.bool_), "action": taken, "picture": render.rows}
    functions, exports = [render.source], _EXPORTS
    if policy is not None:
        args = (code.turn.view.obs, code.shared[0])
        act = function.lower("envcore_act", lambda shared, row: _acted(policy, *row), (), args)
        trees |= {"chosen": act.rows[0], "policy_key": act.rows[1]}
        functions, exports = [*functions, act.source], exports + _ACT
    tables = {"arrays": (*trees,), "drawn": ("shared", "row", "picture")}
    tables["acted"] = ("obs", "policy_key", "chosen", "policy_key")
    named = [(name, pair) for name, tree in trees.items() for pair in jax.tree.leaves_with_path(tree)]
    arrays = {name + jax.tree_util.keystr(path): leaf for name, (path, leaf) in named}
    values = dict(enumerate(jax.tree.leaves(params), 2))
    lines = [_storage(place, leaf, values.get(place)) for place, leaf in enumerate(arrays.values())]
    for table, names in tables.items():
        of = [f"array_{i}" for tree in names for i, (name, _) in enumerate(named) if name == tree]
        lines.append(f"static void* {table}[] = {{{', '.join(of)}}};")
    text = [c.header("wasm.h"), code.text, *functions, *lines]
    text += ["#define WEB(name) __attribute__((export_name(#name)))", exports]
    module = compiler.web("\n".join(text))
    places = {name: place for place, name in enumerate(arrays)}
    if code.staged == one.dtype:  # not a choice, so `play` reads the action in place
        places["action"] = len(jax.tree.leaves((code.shared, code.row[0])))
    height, width, _ = render.rows.shape
    about = {"name": env.name, "height": height, "width": width, "isOneNumber": one.shape == ()}
    about["arrays"] = {
        name: (places[name], c.type_name(leaf.dtype), math.prod(leaf.shape)) for name, leaf in arrays.items()
    }
    path = Path(folder) / f"{env.name}.js"
    script = [f'const MODULE = "{base64.b64encode(module).decode()}";', f"const ABOUT = {json.dumps(about)};"]
    files.replace(path, "\n".join([*script, c.header("browser.js")]).encode())
    return path


def _acted(policy: Callable[[PyTree, jax.Array], PyTree], obs: PyTree, data: jax.Array) -> tuple[PyTree, PyTree]:
    kept, data = turns.count_up(data)
    return (), (policy(obs, turns.typed_key(data)), kept)


def _storage(place: int, leaf: Any, value: Any) -> str:
    """The declaration of an array, aligned to 16 bytes, which is enough for every type."""
    dtype = "long long" if leaf.dtype == np.int64 else c.type_name(leaf.dtype)
    declared = f"static _Alignas(16) {dtype} array_{place}[{math.prod(leaf.shape)}]"
    if value is None:
        return f"{declared};"
    numbers = ", ".join(c.number(x, leaf.dtype) for x in np.ravel(np.asarray(value, leaf.dtype)))
    return f"{declared} = {{{numbers}}};"
