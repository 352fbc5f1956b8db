"""The address a platform is to call, from what the operator typed.

Invariant: pure; nothing is looked up or asked.
"""

import ipaddress
import re
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

_HOST = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]")


class Doubt(StrEnum):
    """Why a platform could not call it."""

    NONE = "none"
    NO_ADDRESS = "no_address"
    PRIVATE = "private"
    """This machine's or this network's own: nobody outside gets there."""
    PORT = "port"
    """The platform calls none but some ports."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Callback:
    """`url` "" where nothing was typed, or nothing that can be called an address."""

    url: str = ""
    doubt: Doubt = Doubt.NONE


def callback(typed: str, path: str, ports: frozenset[int]) -> Callback:
    """`typed`: `bot.example.com`, `https://bot.example.com/` …; https where no scheme is. `ports`: that may be named."""
    typed = typed.strip()
    if not typed:
        return Callback()
    try:
        parts = urlsplit(typed if "://" in typed else f"https://{typed}")
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        return Callback(doubt=Doubt.NO_ADDRESS)
    if parts.scheme not in ("http", "https") or not host or parts.username is not None:
        return Callback(doubt=Doubt.NO_ADDRESS)
    shown = f"[{host}]" if ":" in host else host
    before = parts.path.rstrip("/").removesuffix(path)
    url = f"{parts.scheme}://{shown}{f':{port}' if port else ''}{before}{path}"
    if _is_private(host):
        return Callback(url=url, doubt=Doubt.PRIVATE)
    if not _HOST.fullmatch(host) and not _is_ip(host):
        return Callback(doubt=Doubt.NO_ADDRESS)
    return Callback(url=url, doubt=Doubt.PORT if port and port not in ports else Doubt.NONE)


def _is_private(host: str) -> bool:
    if host == "localhost" or host.endswith((".local", ".localhost", ".internal", ".lan")):
        return True
    return _is_ip(host) and not ipaddress.ip_address(host).is_global


def _is_ip(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
