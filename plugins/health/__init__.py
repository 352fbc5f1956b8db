"""`/livez`: the process answers. The only address besides the platforms' callbacks on the public port."""

from fastapi import FastAPI
from fastapi.responses import PlainTextResponse
from nonebot import get_app

app: FastAPI = get_app()


@app.get("/livez")
async def livez() -> PlainTextResponse:
    return PlainTextResponse("ok\n")
