"""What the database says of itself, and what follows from it.

Invariant: pure; counts and names of models, never an id or a text.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from bot.diagnosis.finding import Finding, failure, fine, warning


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseReport:
    """What was read of the file, without changing it."""

    problem: str = ""
    """Why it could not be read, or what the integrity check said; "" when all is well."""
    revision: str | None = None
    is_known_revision: bool = True
    is_newest_revision: bool = True
    is_same_pepper: bool = True
    phones: int = 0
    superusers: int = 0
    fact_models: Mapping[str, int] = field(default_factory=dict[str, int])
    """Embedding model → facts; "" for those without a vector."""
    passage_models: Mapping[str, int] = field(default_factory=dict[str, int])
    dead_jobs: int = 0
    forgotten: int = 0
    """The last forgetting it holds."""
    newest: datetime | None = None
    """When the last message was accepted."""


def check_database(report: DatabaseReport) -> list[Finding]:
    if report.problem:
        return [
            failure(
                "database",
                f"数据库读不了或已损坏（{report.problem}）",
                "先把数据文件夹整个拷一份，再用 jide restore 备份文件 恢复",
            )
        ]
    if not report.is_known_revision:
        return [
            failure(
                "database",
                f"数据库由更新版本的程序写成（版本 {report.revision}）",
                "升级程序；或用 jide restore 恢复与本程序相配的备份",
            )
        ]
    found = [fine("database", f"数据库完好，版本 {report.revision}")]
    if not report.is_newest_revision:
        found = [fine("database", f"数据库完好，版本 {report.revision}，下次启动时升级，升级前自动备份")]
    if report.dead_jobs:
        said = f"有 {report.dead_jobs} 轮对话整理失败五次，没有进入记忆"
        found.append(warning("database", said, "多半是当时模型出错：看日志，必要时请人再说一遍"))
    return found


def check_pepper(report: DatabaseReport | None, *, is_there: bool, problem: str) -> list[Finding]:
    """`report` None: no database yet. `problem`: why the file could not be used."""
    phones = report.phones if report is not None else 0
    put_back = "把原来的 data/pepper 放回来；确实找不回来，就执行 jide identity new-pepper"
    if problem:
        return [failure("pepper", f"data/pepper {problem}", put_back)]
    if not is_there and phones:
        return [failure("pepper", f"data/pepper 不见了，{phones} 个已验证的手机号会对不上", put_back)]
    if not is_there:
        return [fine("pepper", "data/pepper 还没有，首次启动会生成；请另外备份它，备份文件里没有它")]
    if report is not None and not report.is_same_pepper:
        said = f"data/pepper 不是这个数据库原来用的那一个，{phones} 个已验证的手机号对不上"
        return [failure("pepper", said, put_back)]
    return [fine("pepper", "data/pepper 与数据库相符；请另外备份它，备份文件里没有它")]


def check_ledger(report: DatabaseReport | None, *, last: int, problem: str, fix: str) -> list[Finding]:
    """`last`: the last number of the ledger. `fix`: of the problem."""
    if problem:
        return [failure("ledger", f"忘记账本 data/forgotten.jsonl {problem}", fix)]
    if report is not None and report.forgotten > last:
        fix = "从原来的数据文件夹拷来最新的 data/forgotten.jsonl"
        return [warning("ledger", "忘记账本比数据库旧：从旧备份恢复时，忘掉的可能回来", fix)]
    return [fine("ledger", f"忘记账本完好，到第 {last} 次")]


def check_vectors(report: DatabaseReport | None, model_id: str) -> list[Finding]:
    """`model_id`: of the present embedder, "" where there is none."""
    if report is None:
        return []
    if not model_id:
        return []
    stale = {
        "记忆": {name: count for name, count in report.fact_models.items() if name not in ("", model_id)},
        "资料": {name: count for name, count in report.passage_models.items() if name not in ("", model_id)},
    }
    found = [
        failure(
            "vectors",
            f"{sum(models.values())} 条{what}的向量来自 {'、'.join(models)}，现在用的是 {model_id}：只能按关键词找到",
            "机器人运行时会在后台重做；要马上做就执行 jide reindex，也可以换回原来的向量模型",
        )
        for what, models in stale.items()
        if models
    ]
    lacking = report.fact_models.get("", 0) + report.passage_models.get("", 0)
    if not found and lacking:
        return [
            warning("vectors", f"{lacking} 条记忆或资料还没有向量", "机器人运行时会补上，或执行 jide reindex")
        ]
    return found or [fine("vectors", "全部向量来自现在的模型")]
