"""The version of this core, in a module that everything can import."""

__version__ = "0.2.0"
