"""Pgx's games for one player: the task of each in one line, by the library's own names."""

from __future__ import annotations

PGX = {
    "2048": "Slide the tiles of a 4 x 4 board, and join equal ones, until no move is left.",
    "minatar-asterix": "Collect treasure and avoid enemies on a grid (MinAtar).",
    "minatar-breakout": "Bounce a ball off a paddle to break bricks (MinAtar).",
    "minatar-freeway": "Cross a road of moving cars as often as possible in 2,501 steps (MinAtar).",
    "minatar-seaquest": "Rescue divers in a submarine, shoot enemies, and surface for air (MinAtar).",
    "minatar-space_invaders": "Shoot aliens that come down, and dodge their bullets (MinAtar).",
}
