"""Pictures of the suite's environments: `draw_*(state, params, height, *options) -> uint8 (height, width, 3)`."""
