"""The only place that chooses implementations: settings in, a house out.

Invariant: nothing else imports a backend (`bot.storage`, `bot.llm`).
"""

from bot.container.channels import Channels
from bot.container.house import House

__all__ = ["Channels", "House"]
