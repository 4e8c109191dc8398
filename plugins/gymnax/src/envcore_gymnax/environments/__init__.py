"""gymnax's `environments` module, with base classes, spaces and a class for each environment."""

from envcore_gymnax.environments import bsuite, classic_control, minatar, misc
from envcore_gymnax.environments import environment as environment
from envcore_gymnax.environments import spaces as spaces
from envcore_gymnax.environments.environment import EnvParams as EnvParams
from envcore_gymnax.environments.environment import EnvState as EnvState

for _suite in (bsuite, classic_control, minatar, misc):
    globals().update({name: value for name, value in vars(_suite).items() if isinstance(value, type)})
