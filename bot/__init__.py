"""The house: a bot that remembers each person, wherever they write from, and forgets on request."""
