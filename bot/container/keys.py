"""The phone keys of a data folder, as they are now.

Invariant: a pepper that `jide rotate pepper` replaced under a running bot is used from the next number on.
"""

from bot.secrets_file import PepperFile, Peppers
from identity.phone import PhoneHasher


class KeysOfFile:
    """`identity.phone.PhoneKeys` over `data/pepper` and `data/pepper.old`."""

    def __init__(self, file: PepperFile) -> None:
        self._file = file
        self._peppers = file.read()
        self._hasher = hasher_of(self._peppers)

    def current(self) -> PhoneHasher:
        peppers = self._file.read()
        if peppers is not self._peppers:
            self._peppers, self._hasher = peppers, hasher_of(peppers)
        return self._hasher


def hasher_of(peppers: Peppers) -> PhoneHasher:
    """Raises ConfigurationError."""
    return PhoneHasher(peppers.current, peppers.version, peppers.older)
