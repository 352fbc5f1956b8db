"""Who is something to the person: whom they share a room with, work for, rent from.

Invariant: pure; linear: gaps are bounded. One may have several; only who says that somebody else came closes one.
"""

import re
from collections.abc import Iterator

ROLES = (
    "室友|舍友|同桌|老板|领导|上司|组长|班主任|导师|房东|搭档|邻居|保姆|月嫂|护工|家教|私教|教练|主治医生|理发师|司机|助理|秘书"
    "|紧急联系人|联系人|收件人|收货人"
)
OF_ROLES = frozenset({"室友", "同学", "老板", "老师", "房东", "邻居", "同事"})
"""As `owners` calls them: that somebody is one is told of the person."""
_IS = re.compile(
    rf"(?:^|我的?|我们的?|新来?的?|,)(?P<r>{ROLES})(?:现在|已经|如今|的名字|也|改|换)*(?:是|叫|姓|成了?|换了)(?P<v>[^,.;!?的在]{{1,6}}?)(?:了|啦)?$"
)
_WITH = re.compile(rf"(?:和|跟|与)(?P<v>[^,.;!?]{{1,5}}?)(?:是|成了?|当了?|做了?)(?P<r>{ROLES})(?:了)?$")
_NOBODY = re.compile(r"(?:一?[个名位]|很|谁|什么|不|我|人)|.*[人的]$")


def find_roles(clause: str) -> Iterator[tuple[str, str]]:
    """(slot, who) of a clause in its form."""
    found = _IS.search(clause) or _WITH.search(clause)
    if found is not None and not _NOBODY.match(found["v"]):
        yield f"role:{found['r']}", found["v"]
