"""/手机 and /验证: proving a phone by a code that is sent to it.

Invariant: in private only; no number and no code is ever repeated, and no answer tells whether a number is known.
"""

from bot.alerts import Alerts
from bot.commands.context import Asker
from bot.commands.parsing import UNSTORED
from bot.conversation.errors import RejectedInput
from bot.conversation.wording import Wording
from identity.phone_codes import CODE_LASTS, Asked, PhoneCodes, Proven

_TROUBLE = "otp-webhook"
_ANSWERS = {
    Proven.NO_CODE: "verify_usage",
    Proven.WRONG: "verify_wrong",
    Proven.LINKED: "verify_done",
    Proven.JOINED: "verify_joined",
    Proven.CONFLICT: "verify_conflict",
}


class PhoneCommands:
    def __init__(self, codes: PhoneCodes | None, alerts: Alerts, wording: Wording) -> None:
        """`codes` None: the operator has set up no way to send them."""
        self._codes = codes
        self._alerts = alerts
        self._wording = wording

    @property
    def is_on(self) -> bool:
        return self._codes is not None

    async def send(self, asker: Asker, argument: str) -> str:
        """Without a number: whether there is one already."""
        if asker.is_in_group:
            return self._wording.say("private_only")
        if self._codes is None:
            return self._wording.say("phone_off")
        phone = asker.message.aside or argument
        if not phone:
            is_proven = await self._codes.is_proven(asker.account)
            return self._wording.say("phone_proven" if is_proven else "phone_usage")
        if phone == UNSTORED:
            return self._wording.say("phone_again")
        try:
            async with asker.away():
                asked = await self._codes.send(asker.account, phone)
        except RejectedInput:
            return self._wording.say("phone_invalid")
        return await self._said(asked)

    async def verify(self, asker: Asker, argument: str) -> str:
        if asker.is_in_group:
            return self._wording.say("private_only")
        if self._codes is None:
            return self._wording.say("phone_off")
        code = asker.message.aside or argument
        if not code:
            return self._wording.say("verify_usage")
        if code == UNSTORED:
            return self._wording.say("phone_again")
        return self._wording.say(_ANSWERS[await self._codes.prove(asker.account, code)])

    async def _said(self, asked: Asked) -> str:
        match asked:
            case Asked.SENT:
                self._alerts.settle(_TROUBLE)
                return self._wording.say("phone_sent", minutes=CODE_LASTS.seconds // 60)
            case Asked.TOO_MANY:
                return self._wording.say("phone_too_many")
            case Asked.NOT_SENT:
                told = "验证码短信没有发出去：您的短信接口（IDENTITY__OTP_WEBHOOK）没有收下，原因请看日志"
                await self._alerts.tell(_TROUBLE, told)
                return self._wording.say("phone_not_sent")
