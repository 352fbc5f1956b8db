"""Prompt files of answering: Markdown, replaceable by files of the same name in data/prompts."""
