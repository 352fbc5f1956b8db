"""Connecting the bot to its platforms: what was seen arriving, what a trial came to, what an account answered before."""
