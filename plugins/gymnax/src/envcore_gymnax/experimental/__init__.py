"""gymnax's module of this name."""

from envcore_gymnax.experimental import rollout as rollout
from envcore_gymnax.experimental.rollout import RolloutWrapper as RolloutWrapper
