"""Whether a memory has an answer of a form, text by text: what the index is held against."""

import re

from bot.memory.answer_forms import Form, told_form


def has_form(memory: str, form: Form) -> bool:
    words, pattern = told_form(form)
    has_word = any(word in memory for word in words)
    return has_word or (pattern != "" and re.search(pattern, memory, re.IGNORECASE) is not None)
