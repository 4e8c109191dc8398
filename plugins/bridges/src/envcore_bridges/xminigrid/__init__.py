"""XLand-MiniGrid's environments in envcore."""
