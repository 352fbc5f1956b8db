"""Answering: a question with what was recalled and retrieved becomes the text of a reply.

Invariant: a dead model degrades the answer and never silences it; people's text and memories enter a
prompt as quoted data, never as a template and never as instructions.
"""
