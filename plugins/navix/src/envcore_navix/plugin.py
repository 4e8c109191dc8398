"""Announces Navix's environments to envcore. Imports neither JAX nor navix."""

from __future__ import annotations

from envcore.plugins import hookimpl
from envcore.specs import EnvSpec, library_specs

_SOURCE = "Navix 0.7, Pignatelli et al. (2024), after MiniGrid"

# By the library's names; the ids are `navix/NAME`. A test compares them with what the library lists.
ENVIRONMENTS = {
    "Navix-Empty-5x5-v0": "Cross an empty room of 5 by 5 cells to the goal in its corner.",
    "Navix-Empty-6x6-v0": "Cross an empty room of 6 by 6 cells to the goal in its corner.",
    "Navix-Empty-8x8-v0": "Cross an empty room of 8 by 8 cells to the goal in its corner.",
    "Navix-Empty-16x16-v0": "Cross an empty room of 16 by 16 cells to the goal in its corner.",
    "Navix-Empty-Random-5x5-v0": "Cross an empty room of 5 by 5 cells; start and goal are random.",
    "Navix-Empty-Random-6x6-v0": "Cross an empty room of 6 by 6 cells; start and goal are random.",
    "Navix-Empty-Random-8x8-v0": "Cross an empty room of 8 by 8 cells; start and goal are random.",
    "Navix-Empty-Random-16x16-v0": "Cross an empty room of 16 by 16 cells; start and goal are random.",
    "Navix-DoorKey-5x5-v0": "Take the key, open the locked door and reach the goal, in 5 by 5 cells.",
    "Navix-DoorKey-6x6-v0": "Take the key, open the locked door and reach the goal, in 6 by 6 cells.",
    "Navix-DoorKey-8x8-v0": "Take the key, open the locked door and reach the goal, in 8 by 8 cells.",
    "Navix-DoorKey-16x16-v0": "Take the key, open the locked door and reach the goal, in 16 by 16 cells.",
    "Navix-DoorKey-Random-5x5-v0": "DoorKey in 5 by 5 cells with random start and goal.",
    "Navix-DoorKey-Random-6x6-v0": "DoorKey in 6 by 6 cells with random start and goal.",
    "Navix-DoorKey-Random-8x8-v0": "DoorKey in 8 by 8 cells with random start and goal.",
    "Navix-DoorKey-Random-16x16-v0": "DoorKey in 16 by 16 cells with random start and goal.",
    "Navix-FourRooms-v0": "Find the goal in one of four rooms; start, goal and openings are random.",
    "Navix-KeyCorridorS3R1-v0": "Rooms along a corridor, a key, a locked door and a ball; 3 by 7 cells. No reward.",
    "Navix-KeyCorridorS3R2-v0": "Rooms along a corridor, a key, a locked door and a ball; 5 by 7 cells. No reward.",
    "Navix-KeyCorridorS3R3-v0": "Rooms along a corridor, a key, a locked door and a ball; 7 by 7 cells. No reward.",
    "Navix-KeyCorridorS4R3-v0": "Rooms along a corridor, a key, a locked door and a ball; 10 by 10 cells. No reward.",
    "Navix-KeyCorridorS5R3-v0": "Rooms along a corridor, a key, a locked door and a ball; 13 by 13 cells. No reward.",
    "Navix-KeyCorridorS6R3-v0": "Rooms along a corridor, a key, a locked door and a ball; 16 by 16 cells. No reward.",
    "Navix-LavaGapS5-v0": "Pass the gap in a column of lava to the goal, in 5 by 5 cells; lava ends the episode.",
    "Navix-LavaGapS6-v0": "Pass the gap in a column of lava to the goal, in 6 by 6 cells; lava ends the episode.",
    "Navix-LavaGapS7-v0": "Pass the gap in a column of lava to the goal, in 7 by 7 cells; lava ends the episode.",
    "Navix-SimpleCrossingS9N1-v0": "Reach the far corner of 9 by 9 cells through the gaps in a wall.",
    "Navix-SimpleCrossingS9N2-v0": "Reach the far corner of 9 by 9 cells through the gaps in 2 walls.",
    "Navix-SimpleCrossingS9N3-v0": "Reach the far corner of 9 by 9 cells through the gaps in 3 walls.",
    "Navix-SimpleCrossingS11N5-v0": "Reach the far corner of 11 by 11 cells through the gaps in 5 walls.",
    "Navix-Dynamic-Obstacles-5x5-v0": "Reach the goal past 2 moving balls in 5 by 5 cells; a hit ends the episode.",
    "Navix-Dynamic-Obstacles-5x5-Random-v0": "As Dynamic-Obstacles-5x5, from a random start.",
    "Navix-Dynamic-Obstacles-6x6-v0": "Reach the goal past 3 moving balls in 6 by 6 cells; a hit ends the episode.",
    "Navix-Dynamic-Obstacles-6x6-Random-v0": "As Dynamic-Obstacles-6x6, from a random start.",
    "Navix-Dynamic-Obstacles-8x8-v0": "Reach the goal past 4 moving balls in 8 by 8 cells; a hit ends the episode.",
    "Navix-Dynamic-Obstacles-16x16-v0": "Reach the goal past 8 moving balls in 16 by 16 cells; a hit ends the episode.",
    "Navix-DistShift1-v0": "Reach the goal around two rows of lava, which does no harm; the rows are together.",
    "Navix-DistShift2-v0": "Reach the goal around two rows of lava, which does no harm; the rows are apart.",
    "Navix-GoToDoor-5x5-v0": "Stand in front of the one right door of four, in up to 5 by 5 cells.",
    "Navix-GoToDoor-6x6-v0": "Stand in front of the one right door of four, in up to 6 by 6 cells.",
    "Navix-GoToDoor-8x8-v0": "Stand in front of the one right door of four, in up to 8 by 8 cells.",
}


@hookimpl
def envcore_env_specs() -> list[EnvSpec]:
    return library_specs("navix", "envcore_navix.bridge:from_navix", ENVIRONMENTS, _SOURCE)
