"""The stylesheet, the modules and the icon, as they lie in `static/`.

Invariant: what is served is a file of that folder by its bare name; nothing is built.
"""

from hashlib import sha256
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

FOLDER = Path(__file__).parent / "static"
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml; charset=utf-8",
}


class StaticFiles:
    """Read at the start: a few dozen kilobytes."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._files = {
            path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.suffix in TYPES
        }
        self._tags = {name: sha256(content).hexdigest()[:32] for name, content in self._files.items()}

    def address(self, name: str) -> str:
        """Of a file that is there. Raises KeyError."""
        return f"/static/{name}?v={self._tags[name][:8]}"

    @property
    def route(self) -> Route:
        return Route("/static/{name}", self._serve, name="static")

    async def _serve(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in self._files:
            raise HTTPException(404)
        tag = f'"{self._tags[name]}"'
        headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
        if tag in (each.strip() for each in request.headers.get("if-none-match", "").split(",")):
            return Response(status_code=304, headers=headers)
        return Response(self._files[name], media_type=TYPES[Path(name).suffix], headers=headers)
