"""`jide memory extract`: what of a sentence would be remembered, and why.

Invariant: asks no model, opens no store and keeps nothing.
"""

from datetime import UTC, datetime

import typer

from bot.cli.running import Refusal, say_json
from bot.knowledge.catalogue_file import CatalogueFile
from bot.memory.extraction import REASONS, Extract, as_document, local_iso, normalised, read_all
from bot.memory.time_zh import Kind, TimeSpan
from bot.settings_source import read_settings

TYPES = {
    "order_id": "单号",
    "date": "日期",
    "amount": "金额",
    "product_name": "商品",
    "issue_type": "问题",
    "emotion": "情绪",
    "contact_info": "联系方式",
}
KINDS = {Kind.DURATION: "一段长度，不在日历上", Kind.RECURRENCE: "反复的时间", Kind.SESSION: "以前的一次对话"}


async def extract_text(text: str, *, as_json: bool) -> None:
    if not text.strip():
        raise Refusal("没有要看的话", '例如 jide memory extract "昨天那单SF1234567890123还没到"')
    catalogue = await CatalogueFile(read_settings().data_folder / "products.csv").catalogue()
    found = await read_all(text, tuple(catalogue.product_names()), datetime.now(UTC))
    if as_json:
        say_json(as_document(found))
    else:
        _show(found)


def _show(found: Extract) -> None:
    typer.echo("实体：" if found.entities else "实体：没有")
    for each in found.entities:
        kind = TYPES[each.type.value]
        typer.echo(f"  {kind} “{each.value}” → {normalised(each)}（把握 {each.certainty:.0%}）")
    typer.echo("时间：" if found.times else "时间：没有")
    for span in found.times:
        typer.echo(f"  “{span.text}” → {_meaning(span)}")
    if (reference := found.reference) is not None:
        kind = TYPES[reference.type.value] if reference.type else "要看上文"
        typer.echo(f"指代：“{reference.words}”，指以前说过的{kind}")
    else:
        typer.echo("指代：没有")
    if found.is_reproach:
        typer.echo("这是在怪机器人忘了：会多查一些记忆")
    typer.echo(f"检索条数：{found.k}")
    judgement = found.judgement
    typer.echo(
        f"长期记忆：{'存' if judgement.keep else '不存'}（{REASONS.get(judgement.reason, judgement.reason)}）"
    )
    for fact in judgement.facts:
        typer.echo(f"  [{fact.kind.value}] {fact.text}（重要程度 {fact.importance:g}）")
    if found.asks_model:
        typer.echo("以上按规则判断；接了模型时，由模型再判断一次")


def _meaning(span: TimeSpan) -> str:
    return (
        f"{local_iso(span.window.start)} 到 {local_iso(span.window.end)}" if span.window else KINDS[span.kind]
    )
