# pyright: basic
"""The API of a platform that is played in this process, for who calls it by NoneBot's requests.

Invariant: whatever host a request names, nothing leaves the process.
"""

import httpx
from nonebot.drivers import Request, Response


class PlayedHttp:
    """As a driver's HTTP client, without a network."""

    def __init__(self, api: httpx.AsyncBaseTransport) -> None:
        self._client = httpx.AsyncClient(transport=api, trust_env=False)

    async def __call__(self, request: Request) -> Response:
        answer = await self._client.request(
            request.method,
            str(request.url),
            content=request.content,  # pyright: ignore[reportArgumentType]
            data=request.data,  # pyright: ignore[reportArgumentType]
            json=request.json,
            files=request.files,  # pyright: ignore[reportArgumentType]
            headers=tuple(request.headers.items()),
        )
        headers = answer.headers.multi_items()
        return Response(answer.status_code, headers=headers, content=answer.content, request=request)
