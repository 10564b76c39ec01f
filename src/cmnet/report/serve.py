"""Serving one folder to this machine's browser, and nothing else to anybody else."""

from __future__ import annotations

from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any

HERE = ("127.0.0.1", "localhost")


class Handler(SimpleHTTPRequestHandler):
    """Files below `directory`, also where links lead; no listings, no log, no other host's name.

    A page elsewhere on the web can make its own host name mean 127.0.0.1 and read what is served there; requests that
    come under such a name are refused.
    """

    def send_head(self) -> Any:
        host = self.headers.get("Host", "").rsplit(":", 1)[0]
        if host not in HERE:
            self.send_error(HTTPStatus.FORBIDDEN, "only for this machine")
            return None
        if not self._is_ours():
            self.send_error(HTTPStatus.NOT_FOUND)
            return None
        return super().send_head()

    def _is_ours(self) -> bool:
        """Whether a file of the folder is asked for."""
        try:
            root, path = Path(self.directory).resolve(), Path(self.translate_path(self.path)).resolve()
            return path.is_relative_to(root) and path.is_file()
        except (OSError, ValueError):  # a name that no file can have
            return False

    def end_headers(self) -> None:
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def list_directory(self, path: Any) -> None:
        self.send_error(HTTPStatus.NOT_FOUND)

    def log_message(self, format: str, *args: Any) -> None:
        """The console belongs to the command."""

    def copyfile(self, source: Any, outputfile: Any) -> None:
        try:
            super().copyfile(source, outputfile)
        except (BrokenPipeError, ConnectionResetError):  # the reader closed the page
            self.close_connection = True
