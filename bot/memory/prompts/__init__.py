"""Prompt files of memory: Markdown, replaceable by files of the same name in data/prompts."""
