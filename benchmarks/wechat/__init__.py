"""WeChat's five seconds, unscaled: every kind of account, speed of the model and situation at once, and a
thousand followers asking together: `make bench-wechat`.

Invariant: the bot is its own process, WeChat and the model are simulators that speak the real protocols, and
what counts is what a person saw.
"""
