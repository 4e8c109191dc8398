"""Pictures of bsuite's environments: `draw_*(state, ..., height) -> uint8 (height, width, 3)`, by kind."""
