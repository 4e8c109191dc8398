"""Announces XLand-MiniGrid's environments to envcore. Imports neither JAX nor xminigrid."""

from __future__ import annotations

from envcore.plugins import hookimpl
from envcore.specs import EnvSpec, library_specs

_SOURCE = "XLand-MiniGrid 0.9, Nikulin et al. (2024)"

# By the library's names; the ids are `xminigrid/NAME`. A test compares them with what the library lists.
ENVIRONMENTS = {
    "XLand-MiniGrid-R1-9x9": "Do what a ruleset asks, in one room of 9 by 9 cells; without one there is no goal.",
    "XLand-MiniGrid-R1-11x11": "Do what a ruleset asks, in one room of 11 by 11 cells; without one there is no goal.",
    "XLand-MiniGrid-R1-13x13": "Do what a ruleset asks, in one room of 13 by 13 cells; without one there is no goal.",
    "XLand-MiniGrid-R1-15x15": "Do what a ruleset asks, in one room of 15 by 15 cells; without one there is no goal.",
    "XLand-MiniGrid-R1-17x17": "Do what a ruleset asks, in one room of 17 by 17 cells; without one there is no goal.",
    "XLand-MiniGrid-R2-9x9": "Do what a ruleset asks, in two rooms of 9 by 9 cells; without one there is no goal.",
    "XLand-MiniGrid-R2-11x11": "Do what a ruleset asks, in two rooms of 11 by 11 cells; without one there is no goal.",
    "XLand-MiniGrid-R2-13x13": "Do what a ruleset asks, in two rooms of 13 by 13 cells; without one there is no goal.",
    "XLand-MiniGrid-R2-15x15": "Do what a ruleset asks, in two rooms of 15 by 15 cells; without one there is no goal.",
    "XLand-MiniGrid-R2-17x17": "Do what a ruleset asks, in two rooms of 17 by 17 cells; without one there is no goal.",
    "XLand-MiniGrid-R4-9x9": "Do what a ruleset asks, in four rooms of 9 by 9 cells; without one there is no goal.",
    "XLand-MiniGrid-R4-11x11": "Do what a ruleset asks, in four rooms of 11 by 11 cells; without one there is no goal.",
    "XLand-MiniGrid-R4-13x13": "Do what a ruleset asks, in four rooms of 13 by 13 cells; without one there is no goal.",
    "XLand-MiniGrid-R4-15x15": "Do what a ruleset asks, in four rooms of 15 by 15 cells; without one there is no goal.",
    "XLand-MiniGrid-R4-17x17": "Do what a ruleset asks, in four rooms of 17 by 17 cells; without one there is no goal.",
    "XLand-MiniGrid-R6-13x13": "Do what a ruleset asks, in six rooms of 13 by 13 cells; without one there is no goal.",
    "XLand-MiniGrid-R6-17x17": "Do what a ruleset asks, in six rooms of 17 by 17 cells; without one there is no goal.",
    "XLand-MiniGrid-R6-19x19": "Do what a ruleset asks, in six rooms of 19 by 19 cells; without one there is no goal.",
    "XLand-MiniGrid-R9-16x16": "Do what a ruleset asks, in nine rooms of 16 by 16 cells; without one there is no goal.",
    "XLand-MiniGrid-R9-19x19": "Do what a ruleset asks, in nine rooms of 19 by 19 cells; without one there is no goal.",
    "XLand-MiniGrid-R9-25x25": "Do what a ruleset asks, in nine rooms of 25 by 25 cells; without one there is no goal.",
    "MiniGrid-BlockedUnlockPickUp": "Clear the way to a locked door, open it with the key, take the thing behind it.",
    "MiniGrid-DoorKey-5x5": "Take the key, open the locked door and reach the goal, in 5 by 5 cells.",
    "MiniGrid-DoorKey-6x6": "Take the key, open the locked door and reach the goal, in 6 by 6 cells.",
    "MiniGrid-DoorKey-8x8": "Take the key, open the locked door and reach the goal, in 8 by 8 cells.",
    "MiniGrid-DoorKey-16x16": "Take the key, open the locked door and reach the goal, in 16 by 16 cells.",
    "MiniGrid-Empty-5x5": "Cross an empty room of 5 by 5 cells to the goal in its corner.",
    "MiniGrid-Empty-6x6": "Cross an empty room of 6 by 6 cells to the goal in its corner.",
    "MiniGrid-Empty-8x8": "Cross an empty room of 8 by 8 cells to the goal in its corner.",
    "MiniGrid-Empty-16x16": "Cross an empty room of 16 by 16 cells to the goal in its corner.",
    "MiniGrid-EmptyRandom-5x5": "Cross an empty room of 5 by 5 cells to its corner, from a random start.",
    "MiniGrid-EmptyRandom-6x6": "Cross an empty room of 6 by 6 cells to its corner, from a random start.",
    "MiniGrid-EmptyRandom-8x8": "Cross an empty room of 8 by 8 cells to its corner, from a random start.",
    "MiniGrid-EmptyRandom-16x16": "Cross an empty room of 16 by 16 cells to its corner, from a random start.",
    "MiniGrid-FourRooms": "Find the goal in one of four rooms; start, goal and openings are random.",
    "MiniGrid-LockedRoom": "Find the key of a locked room among six rooms, and the goal inside it.",
    "MiniGrid-MemoryS8": "Remember a thing and go to the same one at the end of a corridor, in 8 columns.",
    "MiniGrid-MemoryS16": "Remember a thing and go to the same one at the end of a corridor, in 16 columns.",
    "MiniGrid-MemoryS32": "Remember a thing and go to the same one at the end of a corridor, in 32 columns.",
    "MiniGrid-MemoryS64": "Remember a thing and go to the same one at the end of a corridor, in 64 columns.",
    "MiniGrid-MemoryS128": "Remember a thing and go to the same one at the end of a corridor, in 128 columns.",
    "MiniGrid-Playground": "Nine rooms with doors and things of all kinds; there is no goal and no reward.",
    "MiniGrid-Unlock": "Take the key and open the locked door.",
    "MiniGrid-UnlockPickUp": "Open a locked door with the key, and take the thing behind it.",
}


@hookimpl
def envcore_env_specs() -> list[EnvSpec]:
    return library_specs("xminigrid", "envcore_xminigrid.bridge:from_xminigrid", ENVIRONMENTS, _SOURCE)
