"""The doors NoneBot loads. Everything behind them lives in `bot/`."""
