"""Pictures of bsuite's environments, by kind: `paint_*(state, params, height, *options) -> uint8 (h, w, 3)`."""
