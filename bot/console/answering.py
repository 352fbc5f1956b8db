"""JSON as the second server answers it.

Invariant: no answer is kept by anybody on the way.
"""

from collections.abc import Mapping

from starlette.responses import JSONResponse, Response

HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


def as_json(content: object, status: int, more: Mapping[str, str] | None = None) -> Response:
    return JSONResponse(content, status, headers={**HEADERS, **(more or {})})
