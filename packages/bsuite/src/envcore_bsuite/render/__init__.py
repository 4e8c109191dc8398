"""Pictures of bsuite's environments, by kind: `paint_*(height, *numbers, **options) -> uint8 (h, w, 3)`."""
