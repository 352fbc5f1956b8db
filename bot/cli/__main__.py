"""`python -m bot.cli` is `jide`."""

from bot.cli import main

main()
