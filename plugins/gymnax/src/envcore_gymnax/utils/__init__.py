"""gymnax's module of this name."""

from envcore_gymnax.utils import load_mnist as load_mnist
