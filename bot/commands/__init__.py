"""Commands: what a person asks of the bot itself, with a slash or in plain words.

Invariant: authority is a matter of ids and asked at execution; in a group nothing personal is shown.
"""

from bot.commands.context import DEGRADED, CommandContext, CommandReply, StatusReport
from bot.commands.router import Commands

__all__ = ["DEGRADED", "CommandContext", "CommandReply", "Commands", "StatusReport"]
