"""gymnax's classes of this suite, each also in a module of its own, as there."""

from envcore_gymnax.environments.classes import members_of

__path__ = []  # a package, whose modules are made and not files
globals().update(members_of("misc"))
