"""Jumanji's environments in envcore."""
