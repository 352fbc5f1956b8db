"""The ways in which garbled.py spoils model outputs, and the rule of what may be saved from them.

What decides `salvageable`: wrappers, punctuation and types leave every value whole, so all facts must be
recovered. A cut leaves whole what closed before it: a fact counts when its closing brace came, the verdict when
its value came. Without a verdict, or with a yes and no whole fact, nothing must be saved. Where the model said
nothing in either format (apology, empty, prose, foreign prose, echo of the template, unclosed thinking) there is
nothing to save. `expected.may_texts` are the only texts which may ever become a memory, whatever the verdict: any
other (a proper prefix, a mixture, a text out of the thinking or the prose) is a half memory. Texts are compared
with all white space removed. `expected.keep` is null where the verdict is lost (or the
cut falls right behind it), and is then not to be compared.
"""

import json
import re
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROWS = {"json": 700, "line": 200, "hopeless": 100}
# Marks in the text which go where a value is whole; they survive every mutation and are taken out at the end.
FACT_END, KEEP_END, SUMMARY_END = "\ue000", "\ue001", "\ue002"
MARKS = re.compile("[\ue000-\ue002]")
STRING = re.compile(r'("(?:[^"\\]|\\.)*")')
ORDERS = [
    ("intent", "keep", "reason", "summary", "facts", "entities"),
    ("keep", "intent", "summary", "facts", "entities", "reason"),
    ("intent", "reason", "keep", "facts", "entities", "summary"),
]
HOPELESS = ["apology", "empty", "foreign", "prose", "echo", "unclosed_think"]


def source(name):
    """Return the lines of a hand-written source without comments."""
    text = (HERE / "source" / name).read_text(encoding="utf-8")
    return [line for line in text.split("\n") if not line.startswith("##")]


def judgements():
    """Return the hand-written correct judgements."""
    found = []
    for block in "\n".join(source("judgements.txt")).strip().split("\n\n"):
        head, *rest = block.split("\n")
        intent, keep, reason, summary = head.split("|")
        facts = [line[2:].split("|") for line in rest if line.startswith("- ")]
        entities = [line[2:].split("|") for line in rest if line.startswith("* ")]
        found.append(
            {
                "intent": intent,
                "keep": keep == "1",
                "reason": reason,
                "summary": summary,
                "facts": [{"text": t, "kind": k, "importance": int(i)} for t, k, i in facts],
                "entities": [{"type": kind, "value": value} for kind, value in entities],
            }
        )
    return found


def texts():
    """Return the hand-written texts by kind."""
    kinds = {}
    for line in source("garbled_texts.txt"):
        if "|" in line:
            kind, text = line.split("|", 1)
            kinds.setdefault(kind, []).append(text.replace("\\n", "\n"))
    return kinds


TEXTS = texts()


def outside(text, change):
    """Apply a change to the parts of a JSON text outside its strings."""
    return "".join(part if part.startswith('"') else change(part) for part in STRING.split(text))


def written(judgement, rng):
    """Return the judgement as JSON text with the marks of whole values."""
    order = rng.choice(ORDERS)
    indent = rng.choice((None, None, 2, 4))
    text = json.dumps({key: judgement[key] for key in order}, ensure_ascii=False, indent=indent)
    text = re.sub(r'("importance": [^,}\s]+\s*\})', rf"\1{FACT_END}", text)
    text = re.sub(r'("keep": (?:true|false|"[^"]*"))', rf"\1{KEEP_END}", text)
    return re.sub(r'("summary": "[^"]*")', rf"\1{SUMMARY_END}", text)


# Mutations of values: they change the judgement before it is written.


def numbers_as_strings(judgement, rng):
    """Write importance as a string."""
    for fact in judgement["facts"]:
        fact["importance"] = str(fact["importance"])


def importance_word(judgement, rng):
    """Write importance as a word."""
    for fact in judgement["facts"]:
        fact["importance"] = "低低中高高"[fact["importance"] - 1]


def keep_word(judgement, rng):
    """Write the verdict as a word."""
    judgement["keep"] = rng.choice(
        ("是", "需要", "yes", "True") if judgement["keep"] else ("否", "不需要", "no", "False")
    )


def null_reason(judgement, rng):
    """Leave the reason null."""
    judgement["reason"] = None


# Mutations of the structure: they need proper JSON strings, so they come before those of the quotes.


def trailing_comma(text, rng):
    """Put commas before closing brackets."""
    return outside(
        text, lambda part: re.sub(r"(\s*[}\]])", lambda m: rng.choice((",", "")) + m[1], part, count=3)
    )


def comments(text, rng):
    """Put comments at the ends of lines."""
    return re.sub(
        r",(?=\s*\"(?:reason|summary|facts|entities|kind)\")",
        lambda m: ", " + rng.choice(TEXTS["comment"]) + "\n",
        text,
    )


def python_literals(text, rng):
    """Write True, False and None."""
    names = {"true": "True", "false": "False", "null": "None"}
    return outside(text, lambda part: re.sub(r"true|false|null", lambda m: names[m[0]], part))


def duplicate_keys(text, rng):
    """Repeat a key: the last one, which holds by the rule of JSON, is the right one."""
    extra = rng.choice(('"reason": "待定", ', '"facts": [], ', '"intent": "未知", '))
    return text.replace("{", "{" + extra, 1)


def newline_in_string(text, rng):
    """Break lines inside strings of facts, raw."""

    def broken(found):
        at = rng.randrange(1, len(found[2]))
        return found[1] + found[2][:at] + "\n" + found[2][at:] + '"'

    return re.sub(r'("(?:text|reason)": ")([^"]{2,})"', broken, text)


def chinese_punctuation(text, rng):
    """Write colons and commas outside strings full-width."""
    return outside(text, lambda part: part.replace(":", "：").replace(",", rng.choice("，,")))


def fullwidth_braces(text, rng):
    """Write some of the brackets full-width."""
    wide = dict(zip("{}[]", "｛｝［］", strict=False))
    return outside(text, lambda part: re.sub(r"[{}\[\]]", lambda m: rng.choice((m[0], wide[m[0]])), part))


def missing_comma(text, rng):
    """Leave out the commas between lines of keys."""
    return re.sub(r'",(\s*")(summary|reason|kind|facts)', r'"\1\2', text)


# Mutations of the quotes: at most one of them.


def chinese_quotes(text, rng):
    """Write the quotes of strings as “ ”."""
    return STRING.sub(lambda m: f"“{m[1][1:-1]}”", text)


def single_quotes(text, rng):
    """Write the quotes of strings single."""
    return STRING.sub(lambda m: f"'{m[1][1:-1]}'", text)


def html_entities(text, rng):
    """Write quotes as HTML entities."""
    return text.replace('"', "&quot;")


# Mutations of the whole: at most one of them.


def missing_brace(text, rng):
    """Leave out one or two closing brackets at the end."""
    return re.sub(r"[\s}\]｝］,]+$", lambda m: re.sub(r"[}\]｝］]", "", m[0], count=rng.choice((1, 2))), text)


def truncated(text, rng):
    """Cut at any point."""
    return text[: rng.randrange(2, len(text) - 1)]


def truncated_in_facts(text, rng):
    """Cut inside the array of facts."""
    start = text.find("facts")
    end = max(text.rfind(FACT_END), start + 6)
    return text[: rng.randrange(start, end)] if start > 1 else truncated(text, rng)


def cut_then_whole(text, rng):
    """Begin, break off, and begin again."""
    return MARKS.sub("", truncated_in_facts(text, rng)) + "\n\n" + text


def escaped_twice(text, rng):
    """Write the JSON as a JSON string."""
    return json.dumps(text, ensure_ascii=False)


def double_json(text, rng):
    """Say it twice."""
    return text + rng.choice(("\n", "", "\n\n")) + MARKS.sub("", text)


# Wrappers: what is around; a cut text has no end to wrap.


def fence(rng):
    """Return a code fence."""
    return rng.choice(("```json\n", "```\n", "```JSON\n", "~~~json\n")), "\n```"


def prose_around(rng):
    """Return a sentence before and perhaps one after."""
    return rng.choice(TEXTS["before"]), rng.choice([*TEXTS["after"], ""])


def bold(rng):
    """Return markdown around."""
    return rng.choice(
        (("**", "**"), ("**判断结果**\n\n", ""), ("> ", ""), ("`", "`"), ("### 输出\n", "\n***"))
    )


def bom(rng):
    """Return a byte order mark."""
    return "\ufeff", ""


def nul(rng):
    """Return NUL characters."""
    return rng.choice(("\0", "")), "\0\0"


def think(rng):
    """Return a finished thinking."""
    return f"<think>\n{rng.choice(TEXTS['think'])}\n</think>\n", ""


VALUES = [numbers_as_strings, importance_word, keep_word, null_reason]
STRUCTURE = [
    trailing_comma,
    comments,
    python_literals,
    duplicate_keys,
    newline_in_string,
    chinese_punctuation,
    fullwidth_braces,
    missing_comma,
]
QUOTES = [chinese_quotes, single_quotes, html_entities]
CUTS = [missing_brace, truncated, truncated_in_facts]
WHOLE = [*CUTS, truncated, truncated_in_facts, cut_then_whole, escaped_twice, double_json]
WRAPPERS = [fence, prose_around, bold, bom, nul, think]
STAGES = [VALUES, STRUCTURE, QUOTES, WHOLE, WRAPPERS]
