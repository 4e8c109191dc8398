"""Converts the original's fields of Seaquest to our states and back (ours hold three of its five lists as bits), and
plays it with given draws."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import minatar_lockstep as lockstep
import numpy as np
from envcore_minatar import packing
from envcore_minatar.game import NOTHING
from envcore_minatar.packing import NUM_SLOTS, SIDE, Number
from envcore_minatar.seaquest import (
    NO_ENEMIES,
    Bullet,
    Diver,
    Enemies,
    Seaquest,
    SeaquestDraws,
    SeaquestState,
    join_bullets,
    join_divers,
    split_bullets,
    split_divers,
)
from jax import lax
from lockstep import Calls, Task

ENV = Seaquest(use_minimal_action_set=False)
_NUM_BULLETS, _NUM_DIVERS = 3, 4
NUMBERS = (
    *("oxygen", "diver_count", "sub_x", "sub_y", "sub_or", "e_spawn_speed", "e_spawn_timer", "d_spawn_timer"),
    *("move_speed", "ramp_index", "shot_timer", "surface", "terminal"),
)
# The capacities of our lists, and how many numbers an item has.
LISTS = {"f_bullets": (3, 3), "e_bullets": (32, 3), "e_fish": (32, 4), "e_subs": (32, 5), "divers": (4, 4)}


def from_original(fields: Mapping[str, Any], last_action: Any = NOTHING) -> SeaquestState:
    """Our state for the original's fields.

    Where the newest of three `f_bullets` hits an enemy in the cell of the oldest and flies the same way, which play
    cannot reach, the other two fly on, but the original's list has them in a different order than a step of ours.

    Args:
      fields: the attributes of the original's `Env`, numbers or arrays by their names. A list is an array of its items,
        padded to any length, and their number is its name with `_count`: at most 3 `f_bullets`, 4 `divers`, and a
        total of 32 `e_fish`, `e_subs`, and those `e_bullets` that no submarine on the board can have shot.
      last_action: as in the original's `Environment`.
    """
    values = {name: jnp.asarray(value).astype(jnp.int32) for name, value in fields.items()}
    bullets = [
        Bullet(exists=there, right=right, x=x, y=y)
        for there, (x, y, right) in _newest(values, "f_bullets", _NUM_BULLETS)
    ]
    divers = [
        Diver(exists=there, right=right, x=x, row=y - 1, move_timer=timer)
        for there, (x, y, right, timer) in _newest(values, "divers", _NUM_DIVERS)
    ]
    flags = ("sub_or", "surface", "terminal")
    return SeaquestState(
        **{name: values[name] != 0 if name in flags else values[name] for name in NUMBERS},
        last_action=last_action,
        f_bullets=join_bullets(bullets),
        divers=join_divers(divers),
        enemies=_enemies_from(values),
    )


def to_original(state: SeaquestState) -> dict[str, jax.Array]:
    """The original's fields of a state, by their names; the inverse of `from_original`.

    Lists are padded with zeros to their capacities, 32 for those of enemies. `e_bullets` are sorted by y, x, direction.
    """
    bullets, divers = split_bullets(state.f_bullets)[::-1], split_divers(state.divers)[::-1]
    alive, is_sub, right, x, row, move_timer, shot_timer, bullet, bullet_x = (
        packing.to_values(field if isinstance(field, tuple) else (field,))[::-1] for field in state.enemies
    )
    order = jnp.lexsort((right, bullet_x, row))
    return {
        **{name: getattr(state, name) for name in NUMBERS},
        **_listed("f_bullets", *map(_stack, zip(*((b.exists, b.x, b.y, b.right) for b in bullets), strict=True))),
        **_listed(
            "divers",
            *map(_stack, zip(*((d.exists, d.x, d.row + 1, d.right, d.move_timer) for d in divers), strict=True)),
        ),
        **_listed("e_fish", alive & (1 - is_sub), x, row + 1, right, move_timer),
        **_listed("e_subs", alive & is_sub, x, row + 1, right, move_timer, shot_timer),
        **_listed("e_bullets", bullet[order], bullet_x[order], row[order] + 1, right[order]),
    }


def fields(original: Any) -> dict[str, Any]:
    found: dict[str, Any] = {name: np.array(getattr(original, name), np.int32) for name in NUMBERS}
    for name, (capacity, width) in LISTS.items():
        items = getattr(original, name)
        found[name] = np.array([*items, *[[0] * width] * (capacity - len(items))], np.int32)
        found[f"{name}_count"] = np.array(len(items), np.int32)
    return found


def canonical(fields: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The fields with lists padded to our capacities, and enemy bullets sorted like ours: their order has no effect."""
    found = dict(fields)
    for name, (capacity, width) in LISTS.items():
        items, count = fields[name], fields[f"{name}_count"]
        assert count.max() <= capacity
        there = np.arange(items.shape[1]) < count[:, None]
        assert not items[~there].any()
        found[name] = np.zeros((len(items), capacity, width), np.int32)
        found[name][:, : items.shape[1]] = items[:, :capacity]
    x, y, right = np.moveaxis(found["e_bullets"], 2, 0)
    absent = np.arange(LISTS["e_bullets"][0]) >= found["e_bullets_count"][:, None]
    order = np.lexsort((right, x, y, absent))
    found["e_bullets"] = np.take_along_axis(found["e_bullets"], order[..., None], axis=1)
    return found


def _newest(values: Mapping[str, jax.Array], name: str, num: int) -> list[tuple[jax.Array, jax.Array]]:
    """The last `num` items of a list, newest first, each as (whether it exists, item)."""
    items, last = values[name], values[f"{name}_count"] - 1
    return [(last >= i, items[jnp.maximum(last - i, 0)]) for i in range(num)]


def _enemies_from(values: Mapping[str, jax.Array]) -> Enemies:
    place = np.arange(NUM_SLOTS, dtype=np.int32)
    num_fish, num_enemies = values["e_fish_count"], values["e_fish_count"] + values["e_subs_count"]
    is_sub = (place >= num_fish) & (place < num_enemies)
    fish = values["e_fish"][jnp.maximum(num_fish - 1 - place, 0)]
    subs = values["e_subs"][jnp.maximum(num_enemies - 1 - place, 0)]
    x, y, right, move_timer = jnp.where(is_sub, subs[:, :4].T, fish.T)
    alive, shot_timer = place < num_enemies, jnp.where(is_sub, subs[:, 4], 0)

    def add(held: tuple[jax.Array, ...], bullet: tuple[jax.Array, jax.Array]) -> tuple[tuple[jax.Array, ...], None]:
        """Gives a bullet to a submarine that can have shot it, as it leaves before the next shot, or a free slot."""
        has_one, y, right, _ = held
        (at_x, at_y, to_right), there = bullet
        steps_left = jnp.where(to_right == 1, SIDE - at_x, at_x + 1)
        able = is_sub & ~has_one & (y == at_y) & (right == to_right) & (shot_timer >= steps_left)
        holder = jnp.where(able.any(), jnp.argmax(able), jnp.argmax(~alive & ~has_one)).astype(jnp.int32)
        holds = there & (place == holder)
        news = (True, at_y, to_right, at_x)
        return tuple(jnp.where(holds, new, old) for new, old in zip(news, held, strict=True)), None

    bullets = values["e_bullets"]
    there = jnp.asarray(np.arange(len(bullets), dtype=np.int32) < values["e_bullets_count"])
    start = (jnp.zeros_like(alive), y, right, jnp.zeros_like(x))
    (has_one, y, right, bullet_x), _ = lax.scan(add, start, (bullets, there), reverse=True)
    columns = (alive, is_sub, right, x, y - 1, move_timer, shot_timer, has_one, bullet_x)
    return Enemies(*(_like(none, jnp.asarray(column)) for none, column in zip(NO_ENEMIES, columns, strict=True)))


def _like(none: Any, values: jax.Array) -> Any:
    """The mask or number for a field of `Enemies`, from the values of all packing."""
    return from_values(values, len(none)) if isinstance(none, tuple) else from_values(values, 1)[0]


def _stack(column: tuple[jax.Array, ...]) -> jax.Array:
    return jnp.stack([number.astype(jnp.int32) for number in column])


def _listed(name: str, there: jax.Array, *columns: jax.Array) -> dict[str, jax.Array]:
    """A list of the original and its length: the rows of the columns where `there`, 0 or 1, is 1."""
    items = jnp.stack(columns, axis=-1) * there[:, None]
    return {name: items[jnp.argsort(1 - there, stable=True)], f"{name}_count": there.sum(dtype=jnp.int32)}


# Compiled as a whole, which takes a tenth of the time.
TASK = Task(jax.jit(from_original), jax.jit(to_original))


def state_with(values: Mapping[str, Any]) -> SeaquestState:
    """The first state with other numbers, and with these items in the original's lists."""
    found = dict(TASK.to_original(ENV.init_state(jax.random.key(0), ENV.default_params)))
    for name, value in values.items():
        if name in LISTS:
            items = [*value, *[(0,) * LISTS[name][1]] * (3 - len(value))]
            found |= {name: np.array(items, np.int32), f"{name}_count": np.int32(len(value))}
        else:
            found[name] = value
    return TASK.from_original(found)


def in_our_form(steps: lockstep.Steps) -> lockstep.Steps:
    return steps._replace(before=canonical(steps.before), after=canonical(steps.after))


def set_fields(original: Any, values: dict[str, Any]) -> None:
    """Sets the state of an original."""
    for name, value in values.items():
        setattr(original, name, value)


def calls(original: Any, action: int, draws: SeaquestDraws) -> Calls:
    found: Calls = []
    if original.e_spawn_timer == 0:
        found += [("rand", 0.25 if draws.enemy_right else 0.75), ("rand", 0.1 if draws.enemy_is_sub else 0.9)]
        found += [("randint", draws.enemy_row + 1)]
    if original.d_spawn_timer == 0:
        found += [("rand", 0.25 if draws.diver_right else 0.75), ("randint", draws.diver_row + 1)]
    return found


def from_values(values: jax.Array, width: int) -> Number:
    """The number of `width` bits with these values, int32 or bool (32,)."""
    places = np.arange(NUM_SLOTS, dtype=np.uint32)
    bits = [lax.shift_right_logical(values.astype(jnp.uint32), np.uint32(i)) & np.uint32(1) for i in range(width)]
    return tuple(lax.shift_left(bit, places).sum(dtype=jnp.uint32) for bit in bits)
