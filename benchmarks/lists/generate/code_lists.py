"""Assembles time_zh.tsv, time_spans.tsv, extraction.tsv and noise.tsv from the hand-written sources."""

import json
import re

from sources import ROOT, SOURCE

TYPES = {
    "o": "order_id",
    "d": "date",
    "a": "amount",
    "p": "product_name",
    "i": "issue_type",
    "e": "emotion",
    "c": "contact_info",
}
MARK = re.compile(r"\{([^{}]*)\}")
SPAN_RULES = """\
Columns: sentence, spans joined by | in the order of the sentence (empty: none).
A span is the maximal expression of time, an exact substring. Its rules:
- Year, month, day, weekday, part of the day and hour which stand together are one span (上周三下午三点).
- Ranges are one span, 从 included (从周一到昨天); two times with other words or a comma between them are two.
- 前 / 后 / 之前 / 之后 / 内 / 之内 belong to the span after a duration (三天前, 五天之内), not after a date
  (12月8日前必须到 has the span 12月8日).
- 那天, 那几天, 期间, 当天, 多, 左右 belong to it. 的, 才, 都, 已经, 差不多, 整整, 至少, 大概, 一直
  do not. 每 / 每逢 / 每隔 begin a recurrence.
- Durations (等了三天, 质保三年), recurrences (每周三, 每天, 每隔三天), vague stretches (最近, 前几天, 这几天,
  过两天) and shelf lives are spans. 刚才 刚刚 方才 are, the bare adverb 刚 is not.
- Not spans: 现在 目前 如今 马上 立刻 待会儿 一会儿 半天 以前 以后 后来 平时 经常 总是 天天 上次 下次 早点 晚点,
  greetings (早上好, 下午好), ages and school years (初一, 三年级, 高三), idioms, names of people, pets, streets,
  shops and brands, prices, versions, sizes, scores, battery types (5号电池)."""
EXTRACTION_RULES = """\
Columns: message, entities as type=value joined by ; (empty: nothing to extract). Values are exact substrings;
an amount is substring→yuan. \\u3002 stands in messages as six literal characters.
- order_id: order numbers of shops and waybill numbers of couriers, with prefix and hyphens; 尾号 with digits.
- date: points in time and festivals (昨天, 3月5号, 上周三, 双十一); durations and recurrences are not dates.
- amount: sums of money, unit included. 二十来块 is 20.
- product_name: the noun with its attributes (儿童书包), without measure words and demonstratives.
- issue_type: the shortest substring that says what is wrong or wanted. The class is open: an evaluator
  counts those listed as found or missed, and takes an overlapping substring as found; extra ones are no error
  in messages which have entities, but are in messages which have none.
- emotion: only words of complaint, urgency or satisfaction.
- contact_info: phones (masked too), e-mail addresses, WeChat ids, without their label.
- A value in a message occurs there at least once; the first occurrence is meant."""


def commented(text):
    """Return the text as a block of comment lines."""
    return "".join(f"# {line}".rstrip() + "\n" for line in text.strip().split("\n"))


def source_lines(name):
    """Return the lines of a source without comments (``##``) and without empty lines."""
    lines = (SOURCE / name).read_text(encoding="utf-8").split("\n")
    return [line for line in lines if line and not line.startswith("##")]


def write(name, comment, rows):
    """Write a table with its leading comment block."""
    body = "".join("\t".join(row) + "\n" for row in rows)
    (ROOT / name).write_text(commented(comment) + body, encoding="utf-8")
    print(name, len(rows))


def long_time(text):
    """Return a date or minute as an ISO date and time."""
    return text + ("T00:00:00" if "T" not in text else ":00")


def time_table():
    """Write the list of windows, headed by the conventions."""
    rows = []
    for line in source_lines("time_zh.txt"):
        expression, reference, start, end, note, tolerance = (part.strip() for part in line.split("|"))
        rows.append([expression, *map(long_time, (reference, start, end)), note or "that day", tolerance])
    conventions = (ROOT / "time_conventions.md").read_text(encoding="utf-8")
    columns = "Columns: expression, reference, start, end (exclusive), note, tolerance of both ends.\n\n"
    write("time_zh.tsv", columns + conventions, rows)


def span_table():
    """Write the sentences with their spans."""
    lines = source_lines("time_spans.txt")
    rows = [[MARK.sub(r"\1", line), "|".join(MARK.findall(line))] for line in lines]
    write("time_spans.tsv", SPAN_RULES, rows)


def entity(mark):
    """Return the written form of one marked entity and its substring."""
    kind, value, *yuan = mark.split("|")
    return f"{TYPES[kind]}={value}" + (f"→{yuan[0]}" if yuan else ""), value


def extraction_table():
    """Write the messages with their entities."""
    rows = []
    for line in source_lines("extraction.txt"):
        entities = [entity(mark)[0] for mark in MARK.findall(line)]
        rows.append([MARK.sub(lambda found: entity(found.group(1))[1], line), ";".join(entities)])
    write("extraction.tsv", EXTRACTION_RULES, rows)


def noise_list():
    """Write the noise messages as JSON strings, one a line."""
    lines = (SOURCE / "noise.txt").read_text(encoding="utf-8").split("\n")
    messages = list(dict.fromkeys(line for line in lines if line))
    text = "".join(json.dumps(message, ensure_ascii=False) + "\n" for message in messages)
    (ROOT / "noise.tsv").write_text(text, encoding="utf-8")
    print("noise.tsv", len(messages))


if __name__ == "__main__":
    time_table()
    span_table()
    extraction_table()
    noise_list()
