"""Announces Pgx's games for one player to envcore. Imports neither JAX nor Pgx."""

from __future__ import annotations

from envcore.plugins import hookimpl
from envcore.specs import EnvSpec, library_specs

_SOURCE = "Pgx 2.6.0, Koyamada et al. (2023)"

# By the library's names; the ids are `pgx/NAME`. A test compares them with what the library lists.
ENVIRONMENTS = {
    "2048": "Slide the tiles of a 4 x 4 board, and join equal ones, until no move is left.",
    "minatar-asterix": "Collect treasure and avoid enemies on a grid (MinAtar).",
    "minatar-breakout": "Bounce a ball off a paddle to break bricks (MinAtar).",
    "minatar-freeway": "Cross a road of moving cars as often as possible in 2,501 steps (MinAtar).",
    "minatar-seaquest": "Rescue divers in a submarine, shoot enemies, and surface for air (MinAtar).",
    "minatar-space_invaders": "Shoot aliens that come down, and dodge their bullets (MinAtar).",
}


@hookimpl
def envcore_env_specs() -> list[EnvSpec]:
    return library_specs("pgx", "envcore_pgx.bridge:from_pgx", ENVIRONMENTS, _SOURCE)
