"""Pictures of the suite's environments: `paint_*(height, *numbers, **options) -> uint8 (height, width, 3)`."""
