"""The doors: what is behind them answers who came through them, and nobody else."""

from urllib.parse import unquote

import pytest
from fastapi import FastAPI, Request, WebSocket
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocketDisconnect

from bot.playground.doors import PREFIX, Door, Doors, PublicGuard, is_from_playground
from bot.playground.playing import PLAYING, Knobs

PATH = "/platforms/wechat/one"
KNOBS = Knobs(latency_seconds=3)


def public_app() -> FastAPI:
    app = FastAPI(openapi_url=None)
    app.router.redirect_slashes = False

    async def seen(request: Request) -> dict[str, object]:
        knobs = PLAYING.get()
        return {
            "path": request.url.path,
            "is_marked": is_from_playground(request.scope),
            "latency": None if knobs is None else knobs.latency_seconds,
            "body": (await request.body()).decode(),
            "query": str(request.url.query),
        }

    for path in (PATH, "/wechat"):
        app.add_api_route(path, seen, methods=["GET", "POST"])

    for path in ("/platforms/socket", "/socket"):

        @app.websocket(path)
        async def socket(websocket: WebSocket) -> None:
            await websocket.accept()
            await websocket.send_json([is_from_playground(websocket.scope), PLAYING.get() is KNOBS])
            await websocket.close()

    app.add_middleware(PublicGuard)
    return app


def loopback_app(app: FastAPI) -> Starlette:
    doors = Doors()
    doors.add(PATH, Door(leads_to=PATH, knobs=KNOBS))
    doors.add("/platforms/wechat/tryout", Door(leads_to="/wechat", knobs=KNOBS))
    doors.add("/platforms/onebot", Door(leads_to="/socket", knobs=KNOBS))
    doors.lead_into(app)
    return Starlette(routes=[Mount(PREFIX.rstrip("/"), doors)])


def public_client() -> TestClient:
    return TestClient(public_app(), base_url="http://127.0.0.1")


def loopback_client() -> TestClient:
    return TestClient(loopback_app(public_app()), base_url="http://127.0.0.1")


def test_who_comes_through_a_door_is_played() -> None:
    answer = loopback_client().post(f"{PATH}?nonce=1", content="你好")
    assert answer.json() == {
        "path": PATH,
        "is_marked": True,
        "latency": 3,
        "body": "你好",
        "query": "nonce=1",
    }
    assert PLAYING.get() is None


def test_a_door_may_lead_to_what_the_public_port_has_too() -> None:
    assert loopback_client().get("/platforms/wechat/tryout").json()["path"] == "/wechat"
    told = public_client().get("/wechat").json()
    assert (told["is_marked"], told["latency"]) == (False, None)


def test_a_websocket_comes_through_too() -> None:
    with loopback_client().websocket_connect("/platforms/onebot") as socket:
        assert socket.receive_json() == [True, True]
    with public_client().websocket_connect("/socket") as socket:
        assert socket.receive_json() == [False, False]


@pytest.mark.parametrize("path", [PATH, "/platforms/unknown", "/platforms/", "/platforms/wechat/one%0A"])
@pytest.mark.parametrize("method", ["GET", "POST", "HEAD", "OPTIONS", "DELETE"])
def test_the_public_port_answers_as_for_any_address_that_does_not_exist(path: str, method: str) -> None:
    client = public_client()
    answer, unknown = client.request(method, path), client.request(method, "/nothing/here")
    assert (answer.status_code, answer.content, answer.headers) == (
        404,
        unknown.content,
        unknown.headers,
    )


@pytest.mark.parametrize(
    "path",
    [
        *(
            "/platforms/wechat/one",
            "//platforms/wechat/one",
            "/platforms//wechat/one",
            "/./platforms/wechat/one",
        ),
        *("/x/../platforms/wechat/one", "/x/%2e%2e/platforms/wechat/one", "/%2e/platforms/wechat/one"),
        *(
            "/%70latforms/wechat/one",
            "/platforms%2fwechat%2fone",
            "/PLATFORMS/wechat/one",
            "/platforms/wechat/one/",
        ),
        *("/platforms/wechat/one%00", "/platforms\\wechat\\one", "/wechat/../platforms/wechat/one"),
    ],
)
async def test_no_spelling_and_no_header_opens_a_door_from_outside(path: str) -> None:
    """Through the very bytes of a request line: no client tidies them up."""
    forged = [
        *(
            (b"host", b"127.0.0.1:8081"),
            (b"x-forwarded-for", b"127.0.0.1"),
            (b"x-forwarded-prefix", b"/platforms"),
        ),
        *((b"jide.playground", b"1"), (b"x-original-url", PATH.encode()), (b"x-rewrite-url", PATH.encode())),
    ]
    raw = path.encode()
    scope: Scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": unquote(raw.decode("ascii")),
        "raw_path": raw,
        "query_string": b"jide.playground=1",
        "root_path": "",
        "headers": forged,
        "state": {"jide.playground": object()},
        "jide.playground": "1",
    }
    statuses: list[int] = []

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, object]) -> None:
        if message["type"] == "http.response.start":
            statuses.append(int(str(message["status"])))

    await public_app()(scope, receive, send)  # pyright: ignore[reportArgumentType]
    assert statuses == [404]


def test_a_websocket_is_refused_on_the_public_port() -> None:
    with pytest.raises(WebSocketDisconnect), public_client().websocket_connect("/platforms/socket"):
        pass


def test_only_what_was_added_is_a_door() -> None:
    client = loopback_client()
    for path in ("/platforms/socket", "/platforms/wechat", "/platforms/livez", f"{PATH}/", f"{PATH}%0A"):
        assert client.get(path).status_code == 404, path
    with pytest.raises(WebSocketDisconnect), client.websocket_connect("/platforms/socket"):
        pass


def test_until_there_is_an_application_every_door_is_closed() -> None:
    doors = Doors()
    doors.add(PATH, Door(leads_to=PATH, knobs=KNOBS))
    client = TestClient(Starlette(routes=[Mount("/platforms", doors)]))
    assert client.get(PATH).status_code == 404


async def test_the_guard_adds_no_step_of_its_own() -> None:
    """It hands on the very scope, and returns the very awaitable of the application."""
    handed: list[Scope] = []

    class App:
        def __call__(self, scope: Scope, receive: Receive, send: Send) -> str:
            handed.append(scope)
            return "its own"

    scope: Scope = {"type": "http", "path": "/wechat"}
    guard = PublicGuard(App())  # pyright: ignore[reportArgumentType]
    assert guard(scope, None, None) == "its own"  # pyright: ignore[reportArgumentType]
    assert handed[0] is scope
    guard({"type": "lifespan"}, None, None)  # pyright: ignore[reportArgumentType]
    assert handed[1] == {"type": "lifespan"}
