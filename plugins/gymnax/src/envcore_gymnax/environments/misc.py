"""gymnax's classes of this suite."""

from envcore_gymnax.environments.classes import classes_of

globals().update(classes_of("misc"))
