"""What came of trying what the operator typed: the account's API, the chat model.

Invariant: a trial holds no secret and no text of the other side's; it is a kind that the page has words for.
"""

from dataclasses import dataclass
from enum import StrEnum

from bot.conversation.errors import ModelRefused, ModelUnavailable, ModelUnpaid
from bot.conversation.ports import ChatModel
from bot.diagnosis.services import ask_once


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiTrial:
    """Of WeChat's API."""

    errcode: int = 0
    """WeChat's; 0: it gave a token."""
    is_away: bool = False
    """Nobody answered."""
    address: str = ""
    """Ours as WeChat saw it, where it says so: what belongs on the list of allowed addresses."""

    @property
    def is_fine(self) -> bool:
        return not self.errcode and not self.is_away


class ModelFault(StrEnum):
    """Why there was no answer, as the operator can mend it."""

    NONE = "none"
    KEY = "key"
    """401, or a key with characters that no key has."""
    UNPAID = "unpaid"
    FORBIDDEN = "forbidden"
    """403: no right to this model, a free quota used up, a closed region."""
    NAME = "name"
    """400, 404 …: there is no such model, or no such address."""
    NETWORK = "network"
    BUSY = "busy"
    """429 and 5xx."""
    SILENT = "silent"
    """Nothing within the time, or nothing that can be read."""
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTrial:
    """Of a chat model."""

    fault: ModelFault = ModelFault.NONE
    status: int = 0
    """HTTP's; 0 where there was none."""
    seconds: float = 0.0
    """What the answer took."""

    @property
    def is_fine(self) -> bool:
        return self.fault is ModelFault.NONE


async def try_model(model: ChatModel) -> ModelTrial:
    """One short question."""
    try:
        return ModelTrial(seconds=await ask_once(model))
    except ModelRefused:
        return ModelTrial(fault=ModelFault.REFUSED)
    except ModelUnavailable as error:
        return ModelTrial(fault=_fault_of(error), status=error.status or 0)
    except TimeoutError:
        return ModelTrial(fault=ModelFault.SILENT)


def _fault_of(error: ModelUnavailable) -> ModelFault:
    if isinstance(error, ModelUnpaid):
        by_status = {None: ModelFault.KEY, 401: ModelFault.KEY, 403: ModelFault.FORBIDDEN}
        return by_status.get(error.status, ModelFault.UNPAID)
    match error.status:
        case None | 200:
            return ModelFault.SILENT
        case 0:
            return ModelFault.NETWORK
        case 408 | 409 | 425 | 429:
            return ModelFault.BUSY
        case status if status >= 500:
            return ModelFault.BUSY
        case _:
            return ModelFault.NAME
