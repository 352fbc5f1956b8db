"""The playground: plays the platforms against the running bot, so that everything can be tried without an account.

Invariant: whoever is played has an app_id of the playground's own, and nothing leaves this machine.
"""
