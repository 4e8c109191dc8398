"""Pictures of bsuite's environments: `draw_*(state, params, height, *options) -> uint8 (height, width, 3)`, by kind."""
