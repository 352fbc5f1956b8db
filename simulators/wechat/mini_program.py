"""A mini-program of the account's owner: who logs in to it, and the phones they let it have.

Invariant: a code is good for five minutes and for one call; what it stands for was said when it was made.

Source: 微信官方文档 · 小程序 · code2Session, getPhoneNumber. Where those are silent (which errcode a code that was used
gets): 40163 for a login, as is widely reported, and 40029 for a phone.
"""

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .clock import Clock
from .errcodes import ApiRefusal
from .people import People
from .tokens import Tokens

CODE_SECONDS = 300.0


@dataclass(slots=True, kw_only=True)
class _Code:
    expires_at: float
    openid: str = ""
    """Of who logs in, as the official account knows them."""
    country: str = ""
    number: str = ""
    app_id: str = ""
    """Of the mini-program whose button was pressed."""
    is_used: bool = False


class MiniProgram:
    def __init__(
        self, *, app_id: str, app_secret: str, people: People, clock: Clock, is_bound: bool = False
    ) -> None:
        """`is_bound`: to the Open Platform account of the official account: `jscode2session` tells the unionid."""
        self.app_id = app_id
        self.app_secret = app_secret
        self.tokens = Tokens()
        self._people = people
        self._clock = clock
        self._is_bound = is_bound
        self._logins: dict[str, _Code] = {}
        self._phones: dict[str, _Code] = {}

    def log_in(self, openid: str) -> str:
        """What `wx.login` gives a person of the official account."""
        return self._keep(self._logins, _Code(expires_at=self._ends_at(), openid=openid))

    def give_phone(self, number: str, *, country: str = "86", app_id: str = "") -> str:
        """What the phone button gives. `number`: without its country's code. `app_id`: another mini-program's."""
        code = _Code(expires_at=self._ends_at(), country=country, number=number, app_id=app_id or self.app_id)
        return self._keep(self._phones, code)

    def session(self, query: Mapping[str, str]) -> dict[str, Any]:
        """`sns/jscode2session`. Raises ApiRefusal."""
        if query.get("appid") != self.app_id:
            raise ApiRefusal(40013)
        if query.get("secret") != self.app_secret:
            raise ApiRefusal(40125)
        if query.get("grant_type") != "authorization_code":
            raise ApiRefusal(40002)
        code = self._use(self._logins, query.get("js_code", ""), used=40163)
        own_openid = f"o{hashlib.sha256(f'{self.app_id}{code.openid}'.encode()).hexdigest()[:27]}"
        known = {"session_key": secrets.token_urlsafe(16), "openid": own_openid}
        return known | ({"unionid": self._people[code.openid].unionid} if self._is_bound else {})

    def phone(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """`wxa/business/getuserphonenumber`. Raises ApiRefusal."""
        text = fields.get("code")
        code = self._use(self._phones, text if isinstance(text, str) else "", used=40029)
        if code.app_id != self.app_id:
            raise ApiRefusal(40013)
        whole = code.number if code.country == "86" else f"+{code.country}{code.number}"
        info = {
            "phoneNumber": whole,
            "purePhoneNumber": code.number,
            "countryCode": code.country,
            "watermark": {"timestamp": int(self._clock.now()), "appid": code.app_id},
        }
        return {"errcode": 0, "errmsg": "ok", "phone_info": info}

    def _ends_at(self) -> float:
        return self._clock.now() + CODE_SECONDS

    def _keep(self, codes: dict[str, _Code], code: _Code) -> str:
        text = secrets.token_hex(16)
        codes[text] = code
        return text

    def _use(self, codes: dict[str, _Code], text: str, *, used: int) -> _Code:
        if not text:
            raise ApiRefusal(41008)
        code = codes.get(text)
        if code is None or self._clock.now() >= code.expires_at:
            raise ApiRefusal(40029)
        if code.is_used:
            raise ApiRefusal(used)
        code.is_used = True
        return code
