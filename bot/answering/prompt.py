"""Render the prompt: the Markdown template with persona, context, memories, passages and the question.

Invariant: values are inserted once and literally, so that braces, `$` and `{{…}}` in anybody's text stay
what they are; secrets are masked; what people said is quoted, one line each, under a heading of its own.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from importlib.resources import files
from pathlib import Path

from bot.answering.question import Question
from bot.conversation.errors import ConfigurationError
from bot.conversation.local_time import LOCAL_TIME, local_date
from bot.conversation.masking import mask_secrets
from bot.conversation.ports import ChatLine
from bot.conversation.turn import Turn
from bot.groups.lines import GroupLine
from bot.knowledge.passage import Passage
from bot.knowledge.retrieval import RetrievedPassage
from bot.knowledge.splitting import HEADING_SEPARATOR
from bot.memory.recall import RecalledFact

PROMPT_FILE = "answer.md"
USER_MARK = "<!-- user -->"
"""What stands below it in the template is the user's message, what stands above the system's."""

_PLACEHOLDER = re.compile(r"\{\{([a-z_]+)\}\}")
_REQUIRED = frozenset({"question"})
_KNOWN = frozenset(
    {
        *("persona", "now", "place", "long_term", "group_memory", "knowledge"),
        *("group_lines", "short_term", "quoted", "question"),
    }
)
_FOR_GROUPS = re.compile(r"<!-- group -->(.*?)<!-- /group -->\n?", re.DOTALL)
"""What stands between is for questions from groups alone."""
_WEEKDAYS = "一二三四五六日"
_NONE = "（无）"
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
        self._for_private = _parts(_FOR_GROUPS.sub("", text))
        self._for_groups = _parts(_FOR_GROUPS.sub(lambda block: block[1].removeprefix("\n"), text))

    def render(
        self, values: dict[str, str], images: tuple[str, ...] = (), *, is_group: bool = False
    ) -> tuple[ChatLine, ...]:
        """The lines of the prompt, pictures in the user's. Nothing in a value is taken for a placeholder."""
        parts = self._for_groups if is_group else self._for_private
        system, user = (_PLACEHOLDER.sub(lambda name: values[name[1]], part).strip() for part in parts)
        lines = (ChatLine(role="system", text=system), ChatLine(role="user", text=user, images=images))
        return tuple(line for line in lines if line.text or line.images)


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
    return template.render(
        {
            "persona": question.persona.strip(),
            "now": _moment(question.at),
            "place": "群聊，大家都看得到回答" if question.is_group else "私聊",
            "long_term": _listed(map(_memory, question.facts)),
            "group_memory": _listed(map(_memory, question.group_facts)),
            "group_lines": _listed(map(_said_in_group, question.group_lines)),
            "knowledge": "\n\n".join(_passages(question.passages)) or _NONE,
            "short_term": _listed(map(_turn, question.short_term)),
            "quoted": f"引用：{_quotation(question.quoted)}\n\n" if question.quoted.strip() else "",
            "question": _masked(question.text) or (_PICTURE if question.images else ""),
        },
        question.images,
        is_group=question.is_group,
    )


def _moment(at: datetime) -> str:
    local = at.astimezone(LOCAL_TIME)
    return f"{local:%Y-%m-%d %H:%M} 星期{_WEEKDAYS[local.weekday()]}（北京时间）"


def _memory(recalled: RecalledFact) -> str:
    return f"- {_quotation(recalled.fact.text)}（{local_date(recalled.fact.said_at)}）"


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


def _quotation(text: str) -> str:
    """On one line: a line break in a memory must not begin a section of the prompt."""
    return f"“{_line(_masked(text))}”"


def _line(text: str) -> str:
    return " ".join(text.split())


def _masked(text: str) -> str:
    return mask_secrets(text)[0]
