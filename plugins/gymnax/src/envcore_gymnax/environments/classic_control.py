"""gymnax's classes of this suite. As in gymnax, each is also in a separate module."""

from envcore_gymnax.environments.classes import members_of

__path__ = []  # a package without files, because its modules are generated
globals().update(members_of("classic_control"))
