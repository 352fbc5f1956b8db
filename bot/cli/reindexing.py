"""`jide reindex`: every fact and passage gets a vector of the present model.

Invariant: what has no vector yet is found by its words meanwhile; a second run goes on where one stopped.
"""

from collections.abc import Callable

import typer

from bot.cli.operations import opened_house
from bot.cli.running import OnProgress, Refusal, progress, say_json
from bot.container import House
from bot.conversation.errors import EmbedderUnavailable
from bot.conversation.ports import Embedder
from bot.knowledge.splitting import searchable_text

BATCH = 8
"""Texts at a time: about four seconds with the built-in model, so progress is seen moving."""
SCOPES = 100


async def reindex_all(*, again: bool, as_json: bool) -> None:
    async with opened_house() as house:
        embedder = house.models.embedder
        if embedder is None:
            raise Refusal("这台机器没有可用的向量模型", "先设置 EMBEDDING__BASE_URL 等三项")
        # Asked before anything is dropped: it must answer, and a remote one then knows its dimension.
        try:
            await embedder.embed_passages(["你好"])
        except EmbedderUnavailable as error:
            raise Refusal(f"向量模型没有回答，什么都没有改：{error}", "用 jide doctor 检查它") from error
        goes_on = await house.stores.vectors.begin(again=again)
        if goes_on and not as_json:
            typer.echo("接着上次没做完的做", err=True)
        with progress(is_shown=not as_json) as show:
            facts, passages = await _embed(house, embedder, show)
        await house.stores.vectors.finish()
        if as_json:
            say_json({"model": embedder.model_id, "facts": facts, "passages": passages, "resumed": goes_on})
        else:
            typer.echo(f"已用 {embedder.model_id} 重做：记忆 {facts} 条，资料 {passages} 段")


async def _embed(house: House, embedder: Embedder, show: OnProgress) -> tuple[int, int]:
    waiting = await house.stores.vectors.waiting()
    try:
        facts = await _embed_facts(house, embedder, lambda done: show("记忆", done, waiting.facts))
        passages = await _embed_passages(house, embedder, lambda done: show("资料", done, waiting.passages))
    except EmbedderUnavailable as error:
        raise Refusal(f"向量模型中途没有回答：{error}", "再执行 jide reindex 会接着做") from error
    return facts, passages


async def _embed_facts(house: House, embedder: Embedder, on_done: Callable[[int], None]) -> int:
    store, done = house.stores.facts, 0
    while scopes := await store.scopes_without_vector(SCOPES):
        before = done
        for scope in scopes:
            while facts := await store.without_vector(scope, embedder.model_id, BATCH):
                vectors = await embedder.embed_passages([fact.text for fact in facts])
                await store.add_vectors(scope, [fact.id for fact in facts], vectors, embedder.model_id)
                done += len(facts)
                on_done(done)
        if done == before:  # what is left is another's doing: the running bot has them in hand
            break
    return done


async def _embed_passages(house: House, embedder: Embedder, on_done: Callable[[int], None]) -> int:
    store, done, beyond = house.stores.vectors, 0, 0
    while passages := await store.passages_without_vector(beyond, BATCH):
        texts = [searchable_text(each.heading, each.text) for each in passages]
        vectors = await embedder.embed_passages(texts)
        await store.add_passage_vectors([each.id for each in passages], vectors, embedder.model_id)
        beyond = passages[-1].id
        done += len(passages)
        on_done(done)
    return done
