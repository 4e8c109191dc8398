"""Pgx's games for one player in envcore."""
