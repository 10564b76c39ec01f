"""Open the report of an assembly in the browser.

worked examples:
  cmnet view OUT                      the folder that `cmnet assemble -o OUT` wrote
  cmnet view OUT --no-browser         only serve it and print the address

The folder is served on this machine alone, until Ctrl+C. The report also opens by itself: OUT/report.html.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from http.server import ThreadingHTTPServer

REPORT = "report.html"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("out", metavar="OUT", type=Path, help="folder with a report.html")
    parser.add_argument("--port", type=int, default=0, help="where to listen on 127.0.0.1 (default: any free port)")
    parser.add_argument("--no-browser", action="store_true", help="print the address and leave the browser alone")


def run(args: argparse.Namespace) -> int:
    import webbrowser

    from rich.console import Console

    with server(args.out, args.port) as serving:
        address = f"http://127.0.0.1:{serving.server_address[1]}/{REPORT}"
        Console().print(f"{args.out} is at {address}   Ctrl+C ends", soft_wrap=True, markup=False, highlight=False)
        if not args.no_browser:
            webbrowser.open(address)
        try:
            serving.serve_forever()
        except KeyboardInterrupt:
            return 0
    return 0


def server(out: Path, port: int = 0) -> ThreadingHTTPServer:
    """A server for the files of one folder, to be closed by the caller. port : 0 takes any that is free"""
    from functools import partial
    from http.server import ThreadingHTTPServer

    from cmnet.errors import InputError
    from cmnet.report.serve import Handler

    if not out.is_dir():
        raise InputError(f"{out}: no such folder; give the folder that `cmnet assemble -o OUT` wrote")
    if not (out / REPORT).is_file():
        raise InputError(f"{out} holds no {REPORT}; run `cmnet assemble INPUT -o {out}` first")
    if not 0 <= port <= 65535:
        raise InputError(f"--port must be between 0 and 65535, not {port}")
    try:
        return ThreadingHTTPServer(("127.0.0.1", port), partial(Handler, directory=str(out.resolve())))
    except OSError as error:
        raise InputError(
            f"cannot listen on port {port}: {error.strerror}; leave --port out to take a free one"
        ) from error
