"""The processes of a Dask cluster that runs already."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from cmnet import __version__
from cmnet.errors import InputError

if TYPE_CHECKING:
    from distributed import Client

PATIENCE = 5  # s that a scheduler has for its answer
# Dask warns of blocks that carry much. They have to: what one worker keeps for the others is lost with it.
LARGE = {"distributed.admin.large-graph-warning-threshold": "1TiB"}


@dataclass(frozen=True)
class Cluster:
    """An executor that says how many workers it has."""

    submit: Callable[..., Future[Any]]
    workers: int  # threads of all its processes


@contextmanager
def executor_of(address: str) -> Iterator[Cluster]:
    """The executor behind dask://HOST:PORT, connected as long as the context lasts."""
    place = _place_of(address)
    try:
        import dask
        from distributed import Client, KilledWorker
    except ImportError as error:
        raise InputError(f"{address} needs Dask, which is not installed; run pip install 'cmnet[dask]'") from error
    try:
        _require_answer(place)
        client = Client(f"tcp://{place}", timeout=PATIENCE, set_as_default=False)
    except OSError as error:
        raise InputError(f"no Dask scheduler answers at {address}; check the address and that it runs") from error
    with client, dask.config.set(LARGE):
        _require_same_versions(client, address)
        try:
            yield Cluster(client.get_executor(pure=False).submit, sum(client.nthreads().values()))
        except KilledWorker as error:
            raise InputError(f"workers of {address} died one after the other; give them more memory") from error
        except Exception as error:
            if client.status == "running":
                raise
            raise InputError(f"the Dask scheduler at {address} was lost; start again when it runs") from error


def _place_of(address: str) -> str:
    """HOST:PORT"""
    try:
        parts = urlsplit(address)
        whole = parts.scheme == "dask" and parts.hostname and parts.port and address == f"dask://{parts.netloc}"
    except ValueError:  # no such port
        whole = False
    if not whole or "@" in parts.netloc:
        raise InputError(f"{address!r} is no executor; write dask://HOST:PORT, the address of a Dask scheduler")
    return parts.netloc


def _require_answer(place: str) -> None:
    """A scheduler speaks first, and the client would wait for ever for what takes calls but is none."""
    parts = urlsplit(f"//{place}")
    with socket.create_connection((parts.hostname, parts.port), PATIENCE) as line:
        if not line.recv(1):
            raise ConnectionAbortedError


def _require_same_versions(client: Client, address: str) -> None:
    def version() -> str:  # no function of this package: it may be missing there
        try:
            import cmnet
        except ImportError:
            return "none"
        return cmnet.__version__

    found = client.run(version, on_error="return")
    if not found:
        raise InputError(f"the Dask cluster at {address} has no workers; start some with dask worker")
    for worker, theirs in sorted(found.items()):
        if theirs != __version__:
            wrong = f"the worker {worker} of {address} has cmnet {theirs}, and here is {__version__}"
            raise InputError(f"{wrong}; install the same everywhere")
