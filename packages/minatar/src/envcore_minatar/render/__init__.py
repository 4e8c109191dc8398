"""Pictures of the games: uint8 (height, height, 3), with one unit of the scene per cell."""
