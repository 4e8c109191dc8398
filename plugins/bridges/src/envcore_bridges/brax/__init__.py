"""brax's environments in envcore."""
