"""Pictures of the suite's environments: `paint_*(state, params, height, *options) -> uint8 (height, width, 3)`."""
