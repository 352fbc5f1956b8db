"""Chooses mutations, applies them, and writes garbled.jsonl; the mutations are in garbled_mutations.py."""

import copy
import json
import random
import re

import garbled_mutations as g

WEIGHTS = (2, 5, 3, 5, 4)
LINE_KINDS = [
    "half_colons",
    "bold_labels",
    "one_per_line",
    "reordered",
    "bullets",
    "keep_variant",
    "spaces",
    "truncated",
]


def chosen(rng):
    """Return one to three mutations of different stages, in the order of the stages."""
    count = rng.choices((1, 2, 3), (45, 35, 20))[0]
    stages = set()
    while len(stages) < count:
        stages.add(rng.choices(range(len(g.STAGES)), WEIGHTS)[0])
    return {stage: rng.choice(g.STAGES[stage]) for stage in sorted(stages)}


def garble(judgement, rng):
    """Return the names of the mutations and the garbled JSON text, its marks still in it."""
    plan = chosen(rng)
    changed = copy.deepcopy(judgement)
    if 0 in plan:
        plan[0](changed, rng)
    if changed == judgement:
        plan.pop(0, None)
    text = g.written(changed, rng)
    for stage in (1, 2, 3):
        before = text
        text = plan[stage](text, rng) if stage in plan else text
        if text == before:
            plan.pop(stage, None)
    if 4 in plan:
        before, after = plan[4](rng)
        text = before + text + ("" if plan.get(3) in g.CUTS else after)
    return [mutation.__name__ for mutation in plan.values()], text


def expected(judgement, text, facts=None):
    """Return what must and may be saved, judged by the marks left in the text."""
    whole = text.count(g.FACT_END)
    verdict = judgement["keep"] if g.KEEP_END in text else None
    facts = [fact["text"] for fact in judgement["facts"]] if facts is None else facts
    must = facts[:whole] if verdict else []
    may = [*facts, judgement["summary"]]
    return {
        "must_facts": must,
        "may_texts": may,
        "keep": verdict,
        "summary": judgement["summary"] if g.SUMMARY_END in text else None,
    }


def json_row(number, judgement):
    """Return a row of garbled JSON; a mutation which changes nothing is tried again."""
    for attempt in range(50):
        rng = random.Random(f"json:{number}:{attempt}")
        plain = g.written(judgement, random.Random(f"json:{number}:{attempt}"))
        names, text = garble(judgement, rng)
        due = expected(judgement, text)
        if effective(names, judgement, plain, text):
            break
    saved = due["keep"] is False or bool(due["must_facts"])
    return {
        "format": "json",
        "original": judgement,
        "mutation": names,
        "output": g.MARKS.sub("", text),
        "salvageable": saved,
        "expected": due,
    }


def effective(names, judgement, plain, text):
    """Tell whether the text differs from a plain writing, and whether its mutations could show."""
    if not names or (not judgement["facts"] and "truncated_in_facts" in names):
        return False
    if {"comments", "cut_then_whole"} <= set(names):  # a comment cut open would swallow what follows
        return False
    shown = g.MARKS.sub("", text)
    try:
        same = json.loads(shown) == judgement
    except ValueError:
        same = False
    return shown != g.MARKS.sub("", plain) and not (same and set(names) <= {"null_reason"})


def line_parts(judgement, rng, names):
    """Return the labelled parts of the line format, marks included."""
    keep = "是" if judgement["keep"] else "否"
    if "keep_variant" in names:
        keep = rng.choice(
            ("是。", "是（值得记）", "【是】") if judgement["keep"] else ("否。", "否（闲聊）", "【否】")
        )
    parts = [
        ("核心意图", judgement["intent"]),
        ("是否需要存入长期记忆", keep + g.KEEP_END),
        ("原因", judgement["reason"]),
        ("摘要", judgement["summary"] + g.SUMMARY_END),
    ]
    if "reordered" in names:
        rng.shuffle(parts)
    return parts


def line_text(parts, rng, names):
    """Return the parts as one text in the line format."""
    colon = ":" if "half_colons" in names else "："
    label = "**{}{}**{}" if "bold_labels" in names else "{}{}{}"
    if "spaces" in names:
        label = " {} {}　{} "
    written = [label.format(name, colon, value) for name, value in parts]
    if "bullets" in names:
        style = rng.choice(("- ", "{}. ", "* ", "{}、"))
        return "\n".join(style.format(n) + part for n, part in enumerate(written, 1))
    return ("\n" if "one_per_line" in names else " ").join(written)


def line_row(number, judgement):
    """Return a row of the line format: it holds no facts, so the summary is what may be saved."""
    rng = random.Random(f"line:{number}")
    names = rng.sample(LINE_KINDS, rng.choice((1, 1, 2, 3)))
    text = line_text(line_parts(judgement, rng, names), rng, names)
    if "truncated" in names:
        text = text[: rng.randrange(3, len(text) - 1)]
    if rng.random() < 0.4:
        wrapper = rng.choice(g.WRAPPERS)
        before, after = wrapper(rng)
        text = before + text + ("" if "truncated" in names else after)
        names.append(wrapper.__name__)
    due = expected(judgement, text, [])
    # A yes without its whole summary leaves nothing to store; a no is whole by itself.
    saved = due["keep"] is False or bool(due["keep"] and due["summary"])
    return {
        "format": "line",
        "original": judgement,
        "mutation": names,
        "output": g.MARKS.sub("", text),
        "salvageable": saved,
        "expected": due,
    }


def hopeless_row(number, judgement):
    """Return a row in which the model judged nothing in either format."""
    rng = random.Random(f"hopeless:{number}")
    kind = g.HOPELESS[number % len(g.HOPELESS)]
    if kind == "unclosed_think":
        half = g.MARKS.sub("", g.truncated(g.written(judgement, rng), rng))
        text = f"<think>\n{rng.choice(g.TEXTS['think'])}\n{rng.choice((half, ''))}"
    else:
        text = rng.choice(g.TEXTS[kind])
        if kind in ("apology", "prose") and rng.random() < 0.5:
            text += rng.choice(("\n", " ", "🙏")) + rng.choice(g.TEXTS["after"]).strip()
    due = {"must_facts": [], "may_texts": [], "keep": None, "summary": None}
    return {
        "format": "none",
        "original": judgement,
        "mutation": [kind],
        "output": text,
        "salvageable": False,
        "expected": due,
    }


def main():
    """Write the rows."""
    originals = g.judgements()
    makers = {"json": json_row, "line": line_row, "hopeless": hopeless_row}
    rows = [
        makers[kind](number, originals[number % len(originals)])
        for kind, count in g.ROWS.items()
        for number in range(count)
    ]
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (g.HERE / "garbled.jsonl").write_text(re.sub("[\u2028\u2029\x85]", "", text), encoding="utf-8")
    print("garbled.jsonl", len(rows), "from", len(originals))


if __name__ == "__main__":
    main()
