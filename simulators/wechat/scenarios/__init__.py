"""Example scenarios, in the order in which they are worth reading. `FOLDER / "first_words.yaml"` is one.

Invariant: each is played by a test, or by hand against the bot of this project.

- first_words: follow, say something, be remembered (this project's bot, any account)
- every_type: every message and event type, and never a fault notice
- slow_answers: seven, twelve and forty seconds where only passive replies are allowed
- customer_service: answers after `success`, quotas, a closed window, a scripted fault
- outage: the callback is away, comes back, is delivered to once more
"""

from pathlib import Path

FOLDER = Path(__file__).parent
