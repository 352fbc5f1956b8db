"""`jide reindex`: every fact and passage gets a vector of the present model.

Invariant: what has no vector of it yet is found by its words meanwhile; a second run goes on where one stopped.
"""

import typer

from bot.cli.operations import opened_house
from bot.cli.running import OnProgress, Refusal, progress, say_json
from bot.container import House
from bot.conversation.errors import EmbedderUnavailable
from bot.conversation.ports import Embedder

BATCH = 8
"""Texts at a time, so that progress is seen moving."""
SCOPES = 100


async def reindex_all(*, again: bool, as_json: bool) -> None:
    async with opened_house() as house:
        embedder = house.models.embedder
        if embedder is None:
            raise Refusal("这台机器没有可用的向量模型", "先设置 EMBEDDING__BASE_URL 等三项")
        # Asked before anything is changed: it must answer, and a remote one then knows its dimension.
        try:
            await embedder.embed_passages(["你好"])
        except EmbedderUnavailable as error:
            raise Refusal(f"向量模型没有回答，什么都没有改：{error}", "用 jide doctor 检查它") from error
        before = await house.renewing.progress()
        goes_on = before is not None and before.renewal.is_begun and not again
        if again:
            await house.stores.vectors.drop_all()
        if goes_on and not as_json:
            typer.echo("接着上次没做完的做", err=True)
        with progress(is_shown=not as_json) as show:
            facts, passages = await _embed(house, embedder, show)
        if as_json:
            say_json({"model": embedder.model_id, "facts": facts, "passages": passages, "resumed": goes_on})
        elif facts or passages:
            typer.echo(f"已用 {embedder.model_id} 重做：记忆 {facts} 条，资料 {passages} 段")
        else:
            typer.echo(f"全部向量已经来自 {embedder.model_id}，没有要做的；要从头重做，加 --again")


async def _embed(house: House, embedder: Embedder, show: OnProgress) -> tuple[int, int]:
    try:
        lacking = await _embed_lacking(house, embedder, show)
        renewed, passages = await _renew(house, show)
    except EmbedderUnavailable as error:
        raise Refusal(f"向量模型中途没有回答：{error}", "再执行 jide reindex 会接着做") from error
    return lacking + renewed, passages


async def _renew(house: House, show: OnProgress) -> tuple[int, int]:
    """(facts, passages)."""
    renewing = house.renewing
    before = await renewing.progress()
    facts = before.renewal.facts_left if before else 0
    passages = before.renewal.passages_left if before else 0
    while await renewing.step():
        show("记忆", renewing.facts_done, max(facts, renewing.facts_done))
        show("资料", renewing.passages_done, max(passages, renewing.passages_done))
    return renewing.facts_done, renewing.passages_done


async def _embed_lacking(house: House, embedder: Embedder, show: OnProgress) -> int:
    """Of the people whose other memories have vectors of this model, or none."""
    store, done, total = house.stores.facts, 0, await house.stores.vectors.lacking()
    while scopes := await store.scopes_without_vector(SCOPES, embedder.model_id):
        before = done
        for scope in scopes:
            while facts := await store.without_vector(scope, embedder.model_id, BATCH):
                vectors = await embedder.embed_passages([fact.text for fact in facts])
                await store.add_vectors(scope, [fact.id for fact in facts], vectors, embedder.model_id)
                done += len(facts)
                show("没有向量的记忆", done, max(done, total))
        if done == before:  # what is left is another's doing: the running bot has them in hand
            break
    return done
