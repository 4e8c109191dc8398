"""Navix's environments in envcore."""
