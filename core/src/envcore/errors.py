"""The exceptions that envcore raises, one class for each case that programs handle. Imports nothing."""

from __future__ import annotations


class EnvcoreError(Exception):
    """Base class of envcore's exceptions."""


class UnknownEnvironmentError(EnvcoreError, KeyError):
    """No installed plugin announces the id, or several do and you must write `"distribution:id"`."""

    __str__ = Exception.__str__  # KeyError would show the repr of the message


class EnvironmentLoadError(EnvcoreError, ImportError):
    """The environment's class cannot be imported, or is not an `Environment`."""


class EnvironmentDefinitionError(EnvcoreError, TypeError):
    """An environment breaks the contract. The message names the method and the problem."""


class InvalidArgumentError(EnvcoreError, TypeError, ValueError):
    """An argument is invalid. The message names the argument and what it must be."""


class InvalidActionError(InvalidArgumentError):
    """The action has the wrong structure, shape, dtype or value. Under `jit`, only `CheckActions` checks values."""


class InvalidParamsError(InvalidArgumentError):
    """The params are for another environment, or a field has a wrong shape or dtype, or a value that makes no sense."""


class NoPictureError(EnvcoreError, NotImplementedError):
    """The environment does not implement `render`."""


class DatasetError(EnvcoreError):
    """Data of an environment is missing and cannot be downloaded, or its files are damaged."""


class FileError(EnvcoreError):
    """A results file or folder cannot be written, is missing or damaged, or belongs to something else."""


class PluginError(EnvcoreError):
    """A plugin is broken. Raised in strict mode, and when a plugin uses the registry while it is being loaded."""


class PluginWarning(UserWarning):
    """A plugin could not be loaded and was left out."""


def one_line(error: BaseException) -> str:
    """Describes an exception in one line, with its class name unless it is an `EnvcoreError`."""
    message = " ".join(str(error).split())
    kind = "" if isinstance(error, EnvcoreError) else type(error).__name__
    return ": ".join(part for part in (kind, message) if part)
