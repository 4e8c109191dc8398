"""MuJoCo Playground's environments: `envcore.make("playground/CartpoleBalance")`, or `from_playground` in `bridge`."""
