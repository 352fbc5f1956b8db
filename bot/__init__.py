"""The house: a bot that remembers each person, wherever they write from, and forgets on request."""

from bot.numpy_settings import tell_numpy

tell_numpy()
