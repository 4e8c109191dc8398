"""Jumanji's environments: the task of each in one line, by the library's own names."""

from __future__ import annotations

JUMANJI = {
    "BinPack-v2": "Pack up to 20 boxes into a container, so that little room is left.",
    "CVRP-v1": "Serve the demands of 20 customers by the shortest route, with a truck that refills at the depot.",
    "Cleaner-v0": "Three robots clean every tile of a 10 x 10 maze together.",
    "FlatPack-v0": "Fill an 11 x 11 grid with 25 pieces, which can be turned.",
    "Game2048-v1": "Slide the tiles of a 4 x 4 board, and join equal ones, until no move is left.",
    "GraphColoring-v1": "Color the 20 nodes of a graph with few colors, so that neighbors differ.",
    "JobShop-v0": "Schedule 20 jobs of up to 8 operations on 10 machines, to finish soon.",
    "Knapsack-v1": "Choose the most valuable of 50 items within a weight limit.",
    "MMST-v0": "Three agents each connect their own nodes in a graph, without crossing one another's paths.",
    "Maze-v0": "Find the way to the target in a random 10 x 10 maze.",
    "Minesweeper-v0": "Uncover a 10 x 10 board without hitting one of its 10 mines.",
    "MultiCVRP-v0": "Serve 20 customers with two vehicles of limited capacity, within their time windows.",
    "PacMan-v1": "Eat all pellets of a maze and escape from the ghosts.",
    "RobotWarehouse-v0": "Four robots carry the shelves that are asked for to the goals of a warehouse.",
    "RubiksCube-partly-scrambled-v0": "Solve a Rubik's Cube that is seven random turns away from solved.",
    "RubiksCube-v0": "Solve a scrambled 3 x 3 x 3 Rubik's Cube.",
    "SlidingTilePuzzle-v0": "Slide the tiles of a 5 x 5 board into order.",
    "Snake-v1": "Steer a growing snake to fruit on a 12 x 12 board, and not into itself.",
    "Sokoban-v0": "Push four boxes of a 10 x 10 room onto their targets; its levels are downloaded.",
    "Sudoku-v0": "Fill in a sudoku of mixed difficulty.",
    "Sudoku-very-easy-v0": "Fill in a very easy sudoku.",
    "TSP-v1": "Visit 20 cities by the shortest round trip.",
    "Tetris-v0": "Drop tetrominoes on a 10 x 10 board and complete lines.",
}
