"""The connection to a Ray cluster: the token that it demands, what it listens on, and what it prints.

Ray is configured by variables of its environment, which are as they were when the connection has ended.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import secrets
import socket
import sys
import warnings
from collections.abc import Generator
from typing import Any

import ray
import ray.exceptions
from envcore.errors import one_line

from envcore_ray.errors import ClusterError

# Ray has no public names for what is needed of these.
_raylet: Any = importlib.import_module("ray._raylet")
_constants: Any = importlib.import_module("ray._private.ray_constants")
_worker: Any = importlib.import_module("ray._private.worker")
_services: Any = importlib.import_module("ray._private.services")
_HAS_TOKENS = hasattr(_raylet, "AuthenticationTokenLoader")  # Ray before 2.52 has none

_MODE, _TOKEN, _HAS_NETWORK = "RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
_PATIENCE = 5.0  # seconds to wait for the first word of what listens at an address
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
"""What a client of gRPC begins with (RFC 9113): a server answers with a frame of settings, the type 4."""


@contextlib.contextmanager
def connected(address: str | None) -> Generator[None]:
    """A block in which Ray is initialized; where somebody else has done so, that is used, and stays.

    Args:
      address: HOST:PORT, or "auto"; None starts Ray on this machine, open to its processes with our token only.

    Raises:
      ClusterError: there is no cluster at the address, or it demands a token that is not here.
    """
    if ray.is_initialized():
        yield
        return
    options: dict[str, Any] = {"logging_level": "error", "log_to_driver": False}
    with _restored(), _quiet():
        if address is None:
            options["include_dashboard"] = False
            _close_to_strangers()
        else:
            _check_reachable(address)
        try:
            try:
                with warnings.catch_warnings():
                    # JAX warns of each new process, lest it go on as a copy of this one; Ray's start other programs.
                    warnings.filterwarnings("ignore", r"os\.fork\(\) was called", RuntimeWarning)
                    ray.init(address or "local", **options)
            except Exception as error:  # Ray raises its own errors, ValueError, ConnectionError, RuntimeError, ...
                where = "this machine" if address is None else address
                raise ClusterError(f"cannot use Ray at {where}: {one_line(error)}.") from error
            yield
        finally:
            ray.shutdown()


@contextlib.contextmanager
def _restored() -> Generator[None]:
    """A context after which the environment is as it was before, and Ray has read it."""
    variables = {name: os.environ.get(name) for name in (_MODE, _TOKEN, _HAS_NETWORK)}
    has_network = _constants.ENABLE_RAY_CLUSTER
    try:
        yield
    finally:
        for name, value in variables.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        _constants.ENABLE_RAY_CLUSTER = has_network
        _read_token()


@contextlib.contextmanager
def _quiet() -> Generator[None]:
    """A context in which Ray keeps the logs of its own processes, which `log_to_driver` does not turn off."""
    original = _worker.print_to_stdstream
    _worker.print_to_stdstream = lambda *args, **kwargs: None
    try:
        yield
    finally:
        _worker.print_to_stdstream = original


def _close_to_strangers() -> None:
    """Lets a cluster of this machine listen on its loopback only, and demand a token of its own if there is none.

    Ray would write that token to the user's home, where it changes how the next cluster is started.
    """
    os.environ[_HAS_NETWORK] = "0"
    _constants.ENABLE_RAY_CLUSTER = False  # which was read when Ray was imported
    if os.environ.setdefault(_MODE, "token").lower() == "token" and not _has_token():
        os.environ[_TOKEN] = secrets.token_hex(32)
    _read_token()


def _check_reachable(address: str) -> None:
    """Checks what Ray itself tries for long: that a cluster listens at the address, and takes the token that is here.

    Raises:
      ClusterError: none does, or it demands another token.
    """
    if address == "auto":
        try:
            address = _services.canonicalize_bootstrap_address(address)
        except Exception:  # Ray says what is wrong when it is initialized
            return
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        return
    try:
        connection = socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE)
    except (OSError, OverflowError) as error:
        raise ClusterError(f"nothing answers at {address}: {getattr(error, 'strerror', None) or error}.") from error
    with connection:
        if os.environ.get("RAY_USE_TLS", "0").lower() not in ("1", "true") and not _speaks_grpc(connection):
            raise ClusterError(f"what listens at {address} is not a Ray cluster.")
    if _takes_us(address):
        return
    if _has_token() and os.environ.setdefault(_MODE, "token").lower() == "token":
        _read_token()
        if _takes_us(address):
            return
        problem = "the one that is here is another"
    elif _has_token():
        problem = f"{_MODE} is {os.environ[_MODE]}"
    else:
        problem = "there is none here"
    raise ClusterError(
        f"the Ray cluster at {address} demands a token, and {problem}: set {_MODE} to token, and {_TOKEN} to what "
        "`ray get-auth-token` prints on its head node."
    )


def _speaks_grpc(connection: socket.socket) -> bool:
    """Whether the other side answers as a server of gRPC does, and soon."""
    answer = b""
    try:
        connection.sendall(_PREFACE)
        while len(answer) < 4 and (part := connection.recv(4 - len(answer))):
            answer += part
    except OSError:  # it says nothing, or ends the connection
        return False
    return answer[3:] == b"\x04"


def _takes_us(address: str) -> bool:
    """Whether the cluster lets this process in, as far as its token is concerned.

    Raises:
      ClusterError: what listens there is something else.
    """
    if not _HAS_TOKENS:
        return True
    if os.environ.get(_MODE, "").lower() == "token" and not _has_token():
        return False  # Ray would end the process
    with _no_errors():
        try:
            _raylet.GcsClient(address=address)
        except ray.exceptions.AuthenticationError:
            return False
        except ray.exceptions.RayError as error:
            raise ClusterError(f"what answers at {address} is not a Ray cluster: {one_line(error)}") from error
    return True


def _has_token() -> bool:
    """Whether there is a token, in a variable or a file.

    Raises:
      ClusterError: it cannot be read.
    """
    if not _HAS_TOKENS:
        return False
    try:
        return _raylet.AuthenticationTokenLoader.instance().has_token(ignore_auth_mode=True)
    except ray.exceptions.RayError as error:
        raise ClusterError(f"Ray's token cannot be read: {one_line(error)}") from error


def _read_token() -> None:
    """Makes Ray read the environment's token and mode again."""
    if _HAS_TOKENS:
        _raylet.Config.initialize("")
        _raylet.AuthenticationTokenLoader.instance().reset_cache()


@contextlib.contextmanager
def _no_errors() -> Generator[None]:
    """A context in which standard error is discarded, also that of C++."""
    sys.stderr.flush()
    stderr, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
        os.close(nowhere)
