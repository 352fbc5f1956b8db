"""Identity: accounts, persons, and the only ways one joins the other.

Invariant: of the house this imports nothing but its words (`bot.conversation`).
"""
