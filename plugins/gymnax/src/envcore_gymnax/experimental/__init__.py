"""gymnax's `experimental` module."""

from envcore_gymnax.experimental import rollout as rollout
from envcore_gymnax.experimental.rollout import RolloutWrapper as RolloutWrapper
