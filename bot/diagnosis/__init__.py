"""What `jide doctor` looks at: each check says what it found and, where something is wrong, how to mend it.

Invariant: a check changes nothing, never raises for what it was made to find, and never says a secret.
"""

from bot.diagnosis.finding import Finding, Level, failure, fine, warning

__all__ = ["Finding", "Level", "failure", "fine", "warning"]
