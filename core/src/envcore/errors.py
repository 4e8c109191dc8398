"""Every error that envcore raises on purpose. This module imports nothing heavy."""

from __future__ import annotations


class EnvcoreError(Exception):
    """Base class of envcore's own errors."""


class UnknownEnvironmentError(EnvcoreError, LookupError):
    """No installed plugin announces the id."""


class AmbiguousEnvironmentError(EnvcoreError, LookupError):
    """Several distributions announce the id; `"distribution:id"` decides."""


class EnvironmentLoadError(EnvcoreError, ImportError):
    """The environment is announced, but its class cannot be imported or is no `Environment`."""


class EnvironmentOptionError(EnvcoreError, TypeError):
    """`make` was given an option that the environment's constructor does not have or refuses."""


class InvalidSpecError(EnvcoreError, ValueError):
    """A field of an `EnvSpec` or a `CommandSpec` is malformed."""


class PluginError(EnvcoreError):
    """A plugin is broken. Raised in strict mode, and into a plugin that looks at the catalogue while it is loaded."""


class PluginWarning(UserWarning):
    """A plugin could not be loaded and was left out."""


class DatasetError(EnvcoreError):
    """An environment's data is not there and cannot be had, or the files that are there are not what they should be."""


class InvalidKeyError(EnvcoreError, TypeError):
    """What was given as a random key is none, or is a whole batch of keys."""


class InvalidActionError(EnvcoreError, ValueError):
    """The action has the wrong structure, shape, dtype or (outside `jit`) value."""


class InvalidParamsError(EnvcoreError, TypeError):
    """The params belong to another environment, or a field has the wrong shape or dtype, or a value without meaning."""


class InvalidStateError(EnvcoreError, TypeError):
    """The state belongs to another environment."""


class EnvironmentDefinitionError(EnvcoreError, TypeError):
    """An environment's author broke the contract: the message says which method and how."""


class RolloutError(EnvcoreError, ValueError):
    """A rollout was asked for with arguments that make no sense."""


class NoPictureError(EnvcoreError, NotImplementedError):
    """The environment's class does not implement `paint`."""


class PictureError(EnvcoreError, ValueError):
    """A picture was asked for with a height that is none, or of a whole batch of states at once."""


class ConformanceError(EnvcoreError, AssertionError):
    """`envcore.testing` found that an environment breaks a rule of the contract."""
