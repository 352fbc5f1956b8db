"""The simulated API without a socket, for programs in the same process and on the same clock.

Invariant: answers as the loopback server does; only the wire is missing.
"""

from urllib.parse import parse_qsl

import httpx

from .wire import Handle, Request


class InProcessTransport(httpx.AsyncBaseTransport):
    """`httpx.AsyncClient(transport=wechat.api.transport(), base_url="https://api.weixin.qq.com")`."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self._handle(
            Request(
                method=request.method,
                path=request.url.path,
                query=dict(parse_qsl(request.url.query.decode(), keep_blank_values=True)),
                content_type=request.headers.get("content-type", ""),
                body=await request.aread(),
                peer="127.0.0.1",
            )
        )
        if response.is_cut:
            raise httpx.RemoteProtocolError("the connection was cut, as scripted", request=request)
        headers = [("content-type", response.content_type), *response.headers]
        return httpx.Response(response.status, headers=headers, content=response.body)
