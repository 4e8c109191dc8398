"""Every error that envcore raises on purpose, one class for each case that programs handle. Imports nothing."""

from __future__ import annotations


class EnvcoreError(Exception):
    """Base class of envcore's own errors."""


class UnknownEnvironmentError(EnvcoreError, KeyError):
    """Nothing installed announces the id, or several distributions do and `"distribution:id"` decides."""

    __str__ = Exception.__str__  # a KeyError shows its message as Python would write the string


class EnvironmentLoadError(EnvcoreError, ImportError):
    """The environment is announced, but its class cannot be imported or is not an `Environment`."""


class EnvironmentDefinitionError(EnvcoreError, TypeError):
    """An environment's author broke the contract: the message says which method and how."""


class InvalidArgumentError(EnvcoreError, TypeError, ValueError):
    """A call got an argument that it cannot use; the message names the argument and says what it must be."""


class InvalidActionError(InvalidArgumentError):
    """The action has the wrong structure, shape, dtype or value; in `jit` only `CheckActions` looks at values."""


class InvalidParamsError(InvalidArgumentError):
    """The params belong to another environment, or a field has the wrong shape or dtype, or a value without meaning."""


class NoPictureError(EnvcoreError, NotImplementedError):
    """The environment's class does not implement `render`."""


class DatasetError(EnvcoreError):
    """An environment's data is missing and cannot be downloaded, or its files are damaged."""


class FileError(EnvcoreError):
    """A file or folder of results cannot be written, is missing or damaged, or belongs to something else."""


class PluginError(EnvcoreError):
    """A plugin is broken. Raised in strict mode, and into a plugin that uses the registry while it is loaded."""


class PluginWarning(UserWarning):
    """A plugin could not be loaded and was left out."""


def one_line(error: BaseException) -> str:
    """Describes an error in one line, with its class unless it is one of envcore's own."""
    message = " ".join(str(error).split())
    kind = "" if isinstance(error, EnvcoreError) else type(error).__name__
    return ": ".join(part for part in (kind, message) if part)
