"""Environments of gymnax, and of libraries that are written as gymnax is, in envcore."""
