"""Render the prompt: the Markdown template with persona, context, memories, passages and the question.

Invariant: values are inserted once and literally, so that braces, `$` and `{{…}}` in anybody's text stay
what they are; secrets are masked; what people said is quoted, one line each, under a heading of its own.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from bot.answering.question import Question
from bot.answering.span import shown_minute, shown_span
from bot.conversation.errors import ConfigurationError
from bot.conversation.local_time import LOCAL_TIME, local_date
from bot.conversation.masking import mask_secrets
from bot.conversation.ports import ChatLine
from bot.conversation.turn import Turn
from bot.groups.lines import GroupLine
from bot.knowledge.passage import Passage
from bot.knowledge.retrieval import RetrievedPassage
from bot.knowledge.splitting import HEADING_SEPARATOR
from bot.memory.entities import EntityType, SeenEntity
from bot.memory.fact import FactKind
from bot.memory.recall import RecalledFact
from bot.memory.summary import Summary

PROMPT_FILE = "answer.md"
USER_MARK = "<!-- user -->"
"""What stands below it in the template is the user's message, what stands above the system's."""

_PLACEHOLDER = re.compile(r"\{\{([a-z_]+)\}\}")
_REQUIRED = frozenset({"question"})
_KNOWN = frozenset(
    {
        *("persona", "now", "place", "long_term", "group_memory", "knowledge", "entities", "meant"),
        *("group_lines", "summary", "short_term", "quoted", "question"),
    }
)
_FOR_GROUPS = re.compile(r"<!-- group -->(.*?)<!-- /group -->\n?", re.DOTALL)
"""What stands between is for questions from groups alone."""
_OF_SUMMARY = re.compile(r"<!-- summary -->(.*?)<!-- /summary -->\n?", re.DOTALL)
"""What stands between is for who has one: most people have not."""
_WEEKDAYS = "一二三四五六日"
_NONE = "（无）"
_LATELY = 2_048
"""Quotations kept: a memory or turn stands in the prompts of many questions in a row."""
_MINUTES = 16
"""Those that are written as now: the platforms' clocks differ a little."""
_NAMES = {
    EntityType.ORDER_ID: "单号",
    EntityType.DATE: "日期",
    EntityType.AMOUNT: "金额",
    EntityType.PRODUCT_NAME: "商品",
    EntityType.ISSUE_TYPE: "问题",
    EntityType.EMOTION: "情绪",
    EntityType.CONTACT_INFO: "联系方式",
    EntityType.PROMISE: "你答应过的事",
}
_PICTURE = "（发来图片，没有写字）"
"""Where the question's words would stand: some models refuse a picture without any."""


class Template:
    """A prompt in Markdown with `{{name}}` where values go."""

    def __init__(self, text: str, source: str) -> None:
        """Raises ConfigurationError for an unknown name or a template without the question."""
        names = set(_PLACEHOLDER.findall(text))
        if unknown := names - _KNOWN:
            raise ConfigurationError(
                source, f"没有 {{{{{min(unknown)}}}}} 这个值", f"可用的值：{'、'.join(sorted(_KNOWN))}"
            )
        if missing := _REQUIRED - names:
            raise ConfigurationError(source, f"缺少 {{{{{min(missing)}}}}}", "加上它，否则模型看不到问题")
        self.has_summary = "summary" in names
        """Else it is put before the last turns: an operator's template may be older than summaries."""
        self._parts = {
            (is_group, has_summary): _parts(
                _with(_FOR_GROUPS, _with(_OF_SUMMARY, text, is_kept=has_summary), is_kept=is_group)
            )
            for is_group in (False, True)
            for has_summary in (False, True)
        }

    def render(
        self, values: dict[str, str], images: tuple[str, ...] = (), *, is_group: bool = False
    ) -> tuple[ChatLine, ...]:
        """The lines of the prompt, pictures in the user's. Nothing in a value is taken for a placeholder."""
        parts = self._parts[is_group, bool(values["summary"])]
        system, user = (_PLACEHOLDER.sub(lambda name: values[name[1]], part).strip() for part in parts)
        lines = (ChatLine(role="system", text=system), ChatLine(role="user", text=user, images=images))
        return tuple(line for line in lines if line.text or line.images)


def _with(block: re.Pattern[str], text: str, *, is_kept: bool) -> str:
    """The text with what stands between the marks, or without it."""
    return block.sub(lambda found: found[1].removeprefix("\n") if is_kept else "", text)


def _parts(text: str) -> tuple[str, str]:
    """The system's message and the user's."""
    system, mark, user = text.partition(USER_MARK)
    return (system, user) if mark else ("", text)


def load_template(folder: Path | None = None) -> Template:
    """The operator's `answer.md` in `folder` if there is one, else the house's.

    Raises:
        ConfigurationError: the operator's file can't be used.
    """
    own = folder / PROMPT_FILE if folder else None
    if own is None or not own.is_file():
        return Template(files("bot.answering.prompts").joinpath(PROMPT_FILE).read_text("utf-8"), PROMPT_FILE)
    try:
        return Template(own.read_text("utf-8-sig"), str(own))
    except UnicodeDecodeError as error:
        raise ConfigurationError(str(own), "不是 UTF-8 编码", "用编辑器另存为 UTF-8") from error


def render_prompt(template: Template, question: Question) -> tuple[ChatLine, ...]:
    """The prompt of one question."""
    told = tuple(map(_summary, question.summaries))
    before = () if template.has_summary else told
    return template.render(
        {
            "persona": question.persona.strip(),
            "now": _minute(question.at.replace(second=0, microsecond=0)),
            "place": "群聊，大家都看得到回答" if question.is_group else "私聊",
            "long_term": _listed(map(_memory, question.facts)),
            "group_memory": _listed(map(_memory, question.group_facts)),
            "group_lines": _listed(map(_said_in_group, question.group_lines)),
            "entities": _listed(map(_entity, question.entities)),
            "meant": _listed((*_meant(question.pointing, question.meant), *_asked_time(question))),
            "knowledge": "\n\n".join(_passages(question.passages)) or _NONE,
            "summary": "\n".join(told),
            "short_term": _listed((*before, *map(_turn, question.short_term))),
            "quoted": f"引用：{_quotation(question.quoted)}\n\n" if question.quoted.strip() else "",
            "question": _masked(question.text) or (_PICTURE if question.images else ""),
        },
        question.images,
        is_group=question.is_group,
    )


@lru_cache(_MINUTES)
def _minute(at: datetime) -> str:
    local = at.astimezone(LOCAL_TIME)
    return f"{local:%Y-%m-%d %H:%M} 星期{_WEEKDAYS[local.weekday()]}（北京时间）"


def _memory(recalled: RecalledFact) -> str:
    who = "你答应过：" if recalled.fact.kind is FactKind.PROMISE else ""
    return f"- {who}{_quotation(recalled.fact.text)}（{local_date(recalled.fact.said_at)}）"


def _entity(seen: SeenEntity) -> str:
    return f"- {_NAMES[seen.type]}：{_quotation(seen.value)}（{local_date(seen.seen_at)}）"


def _meant(words: str, meant: Sequence[SeenEntity]) -> tuple[str, ...]:
    """What the person's words point at; the bot asks where several fit."""
    if not meant:
        return ()
    if len(meant) == 1:
        return (f"{_quotation(words)}指的是{_NAMES[meant[0].type]}{_quotation(meant[0].value)}。",)
    asked = f"{_quotation(words)}可能是下面的任何一个，分不清；先列出来问用户是哪一个，不要猜："
    return (asked, *map(_candidate, meant))


def _asked_time(question: Question) -> tuple[str, ...]:
    """Which time is asked for, and what was said in it besides the memories listed."""
    asked = question.asked
    if asked is None or asked.window is None:
        return ()
    meant = f"{_quotation(asked.words)}指 {shown_span(asked.window)}（北京时间）。"
    shown = {turn.id for turn in question.short_term}
    said = [turn for turn in question.said if turn.id not in shown]
    if not (question.facts or question.group_facts or question.said):
        # What is pointed at was found: that nothing was said then would deny it.
        if question.meant:
            return ()
        return (f"{meant}在这段时间里没有记下的内容。",)
    of_then = (
        "这段时间说的" if asked.is_said or asked.sessions_back else "这段时间说的，和别的时候讲到这段时间的"
    )
    if not said:
        return (f"{meant}「长期记忆」里只列了{of_then}。",)
    then = (f"{_turn(turn)}（{shown_minute(turn.at)}）" for turn in said)
    return (f"{meant}「长期记忆」里只列了{of_then}；那时的原话：", *then)


def _candidate(seen: SeenEntity) -> str:
    beside = f"，当时说的是{_quotation(seen.context)}" if seen.context else ""
    return f"{_entity(seen)}{beside}"


def _summary(summary: Summary) -> str:
    return f"- {_quotation(summary.text)}（到 {local_date(summary.at)} 为止）"


@lru_cache(_LATELY)
def _turn(turn: Turn) -> str:
    answer = f"\n- 你答：{_quotation(turn.answer)}" if turn.answer else ""
    return f"- 用户说：{_quotation(turn.question)}{answer}"


def _said_in_group(line: GroupLine) -> str:
    """Secrets were masked at the door, before the line was heard."""
    name = "你" if line.is_bot else f"“{line.name or '某人'}”"
    return f"- {name}：“{_line(line.text)}”"


def _passages(retrieved: Sequence[RetrievedPassage]) -> Iterator[str]:
    """Each passage in its context; what one has shown, no later one shows again."""
    shown: set[int] = set()
    for each in retrieved:
        passage = each.passage
        if passage.id in shown:
            continue
        pieces = [piece for piece in each.context or (passage,) if piece.id not in shown]
        # An id of 0 is no stored passage's: several may have it.
        shown.update(piece.id for piece in pieces if piece.id)
        heading = f" › {_line(passage.heading)}" if passage.heading else ""
        # Each line is marked as quoted: a heading inside a passage must not look like one of the prompt.
        quoted = "\n".join(f"> {line}" for line in _reading(pieces, passage.heading).splitlines())
        yield f"《{_line(passage.document)}》{heading}\n{quoted}"


def _reading(pieces: Sequence[Passage], heading: str) -> str:
    """Neighbouring passages as one text, with the nearest heading where it changes."""
    lines: list[str] = []
    for piece in pieces:
        if piece.heading != heading:
            heading = piece.heading
            lines.append(f"【{_line(heading.rpartition(HEADING_SEPARATOR)[2])}】")
        lines.append(piece.text)
    return "\n".join(lines)


def _listed(items: Iterable[str]) -> str:
    return "\n".join(items) or _NONE


@lru_cache(_LATELY)
def _quotation(text: str) -> str:
    """On one line: a line break in a memory must not begin a section of the prompt."""
    return f"“{_line(_masked(text))}”"


def _line(text: str) -> str:
    return " ".join(text.split())


def _masked(text: str) -> str:
    return mask_secrets(text)[0]
