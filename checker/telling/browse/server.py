"""The local web page of a walk: on 127.0.0.1 alone, behind a random token.

Any page in the user's browser can send requests to this machine, and any name can be made to point
at it. So nothing is answered unless the Host header is this server's own, the path begins with the
token, and a request that other pages may not send carries no foreign Origin.
"""

from __future__ import annotations

import hmac
import json
import secrets
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from checker.telling.browse.given import parsed
from checker.telling.browse.saving import keep
from checker.telling.browse.walk import Walk
from checker.telling.report.html import page
from model.language.errors import HighwaterError, UsageError
from model.language.naming import bounds_words

if TYPE_CHECKING:
    from flask import Flask, Response
    from werkzeug.serving import BaseWSGIServer

WEB = Path(__file__).parent / "web"
HOST = "127.0.0.1"
MAX_BYTES = 4 << 20
MAX_DEPTH = 100
MAX_SECONDS = 120.0
POLICY = "; connect-src 'self'; img-src data:"
HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Server:
    """Serves one walk until `stop`. Port 0 takes a free one; `OSError` if the port is not free."""

    def __init__(self, walk: Walk, at: int = 0, port: int = 0) -> None:
        from werkzeug.serving import make_server

        self.walk = walk
        self.token = secrets.token_urlsafe(24)
        self._lock = threading.Lock()
        self.app = application(walk, at, self.token, self._lock, lambda: self.port)
        self._socket = socket.create_server((HOST, port))
        self.port = self._socket.getsockname()[1]
        self._server: BaseWSGIServer = make_server(
            HOST,
            self.port,
            self.app,
            threaded=True,
            request_handler=_quiet_handler(),
            fd=self._socket.fileno(),
        )

    @property
    def address(self) -> str:
        """Where the page is; whoever has it may walk."""
        return f"http://{HOST}:{self.port}/{self.token}/"

    def run(self) -> None:
        """Serve until `stop` is called, or Ctrl-C is pressed."""
        try:
            self._server.serve_forever(poll_interval=0.1)
        finally:
            self.walk.stop()
            self._server.server_close()
            self._socket.close()

    def stop(self) -> None:
        """End `run`, from another thread."""
        self._server.shutdown()


def _quiet_handler() -> Any:
    from werkzeug.serving import WSGIRequestHandler

    class Quiet(WSGIRequestHandler):
        """Says nothing of each request."""

        def log(self, type: str, message: str, *args: Any) -> None:
            pass

    return Quiet


def application(
    walk: Walk, at: int, token: str, lock: threading.Lock, port: Callable[[], int]
) -> Flask:
    """The web application of a walk that stands at a state; one request at a time has the lock."""
    from flask import Flask, Response, request

    app = Flask("highwater", static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = MAX_BYTES
    answers = _answers(walk)

    def refusal() -> tuple[str, int] | None:
        own = {f"{name}:{port()}" for name in (HOST, "localhost")}
        if request.headers.get("Host") not in own:
            return "this page answers only to its own address", 400
        given = request.path.split("/")[1]
        if not hmac.compare_digest(given.encode(), token.encode()):
            return "the address lacks the token that `highwater browse` printed", 403
        origin = request.headers.get("Origin")
        if origin is not None and origin not in {f"http://{name}" for name in own}:
            return "another page sent this request", 403
        return None

    @app.before_request
    def check() -> Response | None:
        found = refusal()
        return None if found is None else _plain(*found)

    @app.after_request
    def add_headers(response: Response) -> Response:
        response.headers.update(HEADERS)
        return response

    @app.errorhandler(Exception)
    def mistake(error: Exception) -> Response:
        return _problem(error)

    @app.get("/<_token>/")
    def show(_token: str) -> Response:
        model = walk.model
        html = page(
            WEB / "browse.html.j2", WEB / "browse.js", POLICY, at=at,
            title=f"{model.protocol.name}: a walk", words=model.protocol.words,
            bounds=bounds_words(model.bounds), settings=_settings(walk),
        )  # fmt: skip
        return Response(html, content_type="text/html; charset=utf-8")

    @app.post("/<_token>/<what>")
    def answer(_token: str, what: str) -> Response:
        if what not in answers:
            return _plain(f"nothing is called {what!r} here", 404)
        if request.mimetype != "application/json":
            return _plain("a request must be JSON", 415)
        with lock:
            found = answers[what](_asked(request.get_data()))
        return Response(json.dumps(found), content_type="application/json")

    return app


def _settings(walk: Walk) -> str:
    told = walk.model.identity["settings"]
    return ", ".join(f"{name} = {value}" for name, value in told.items())


def _plain(text: str, status: int) -> Response:
    from flask import Response

    return Response(text + "\n", status, content_type="text/plain; charset=utf-8")


def _problem(error: Exception) -> Response:
    """What went wrong, in one line."""
    from flask import Response
    from werkzeug.exceptions import HTTPException

    if isinstance(error, HTTPException):
        return _plain(error.name.lower(), error.code or 500)
    known = isinstance(error, HighwaterError)
    words = str(error) if known else f"internal error, {type(error).__name__}: {error}"
    data = json.dumps({"error": " ".join(words.split())})
    return Response(data, 400 if known else 500, content_type="application/json")


def _asked(content: bytes) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        raise UsageError("the request is not JSON") from None
    if not isinstance(found, dict):
        raise UsageError("a request must be an object")
    return found


def _answers(walk: Walk) -> dict[str, Callable[[dict[str, Any]], dict[str, Any]]]:
    """What a page may ask, by name: plain data in, plain data out."""

    def near(asked: dict[str, Any]) -> dict[str, Any]:
        depth = _number(asked, "depth", 1, MAX_DEPTH)
        seconds = _number(asked, "seconds", 1, MAX_SECONDS)
        found = walk.near(_at(asked), int(depth), seconds)
        return {"words": found.words, "steps": [step.number for step in found.steps]}

    def begin(asked: dict[str, Any]) -> dict[str, Any]:
        text = asked.get("state")
        if not isinstance(text, str):
            raise UsageError("state must be text: the JSON of a state")
        return walk.view(walk.begin(parsed(text, "the state")))

    def save(asked: dict[str, Any]) -> dict[str, Any]:
        kept = keep(walk, _at(asked), str(asked.get("kind")))
        return {"name": kept.name, "text": kept.text}

    def follow(asked: dict[str, Any]) -> dict[str, Any]:
        steps = asked.get("steps")
        if not isinstance(steps, list) or not all(type(number) is int for number in steps):
            raise UsageError("steps must be a list of numbers")
        return walk.view(walk.follow(_at(asked), steps))

    return {
        "view": lambda asked: walk.view(_at(asked)),
        "follow": follow,
        "begin": begin,
        "near": near,
        "save": save,
    }


def _at(asked: dict[str, Any]) -> int:
    return int(_number(asked, "at", 0, float("inf")))


def _number(asked: dict[str, Any], name: str, least: float, most: float) -> float:
    found: Any = asked.get(name)
    is_number = isinstance(found, int | float) and not isinstance(found, bool)
    if not is_number or not least <= found <= most:
        raise UsageError(f"{name} must be a number from {least} to {most}")
    return float(found)
