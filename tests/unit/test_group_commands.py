"""What owners and admins of a group may do with the bot, and what nobody may."""

from dataclasses import replace

import pytest

from bot.commands.clearing import CONFIRM_WITHIN
from bot.conversation.message import Conversation, Role
from bot.conversation.scope import Scope
from identity.directory import key_of_group
from identity.model import Account
from tests.command_fakes import ALICE_QQ, ROOT, House

GROUP, OTHER_GROUP = "30001", "30002"
PLACE, OTHER_PLACE = f"onebot:10000:{GROUP}", f"onebot:10000:{OTHER_GROUP}"


@pytest.fixture
def house() -> House:
    return House()


@pytest.fixture
def admin(house: House) -> Account:
    return house.accounts.add(ALICE_QQ, 7)


async def group_scope(house: House, group: str = GROUP) -> Scope:
    conversation = Conversation(channel="onebot", app_id="10000", group=group)
    account = await house.accounts.find_account(key_of_group(conversation))
    assert account is not None
    return account.scope(f"onebot:10000:{group}")


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN])
async def test_owner_and_admins_switch_the_bot(house: House, admin: Account, role: Role) -> None:
    assert "不再说话" in (await house.say(admin, "/关闭", group=GROUP, role=role) or "")
    assert house.switches.off == {PLACE}
    assert "继续" in (await house.say(admin, "/开启", group=GROUP, role=role) or "")
    assert house.switches.off == set()
    assert [row[1] for row in house.audit.rows] == ["switch_group", "switch_group"]


async def test_a_member_may_not_and_a_superuser_may_everywhere(house: House, admin: Account) -> None:
    for command in ("/关闭", "/开启", "/群记住 周五开团", "/群忘记 开团", "/清除群记忆"):
        assert "群主和群管理员" in (await house.say(admin, command, group=GROUP) or ""), command
    assert house.switches.off == set()
    root = next(account for account in house.accounts.all if account.key == ROOT)
    await house.say(root, "/关闭", group=GROUP)
    assert house.switches.off == {PLACE}


async def test_in_private_there_is_no_group_to_command(house: House, admin: Account) -> None:
    for command in ("/关闭", "/群记忆", "/群记住 x", "/清除群记忆"):
        assert "请在群里发" in (await house.say(admin, command, role=Role.OWNER) or ""), command


async def test_what_a_group_keeps_together_is_its_own_and_shown_to_all(house: House, admin: Account) -> None:
    assert "还没有" in (await house.say(house.bob, "/群记忆", group=GROUP) or "")
    told = await house.say(admin, "/群记住 每周五晚八点开团", group=GROUP, role=Role.ADMIN)
    assert "每周五晚八点开团" in (told or "")
    scope = await group_scope(house)
    assert scope.place == PLACE and house.facts.texts(scope) == ["每周五晚八点开团"]
    assert house.facts.texts(admin.scope(PLACE)) == house.facts.texts(admin.scope("")) == []
    stranger = house.accounts.add(replace(ALICE_QQ, openid="9"), 9)
    assert "每周五晚八点开团" in (await house.say(stranger, "/群记忆", group=GROUP) or "")
    assert "还没有" in (await house.say(stranger, "/群记忆", group=OTHER_GROUP) or "")


async def test_claims_about_others_are_not_kept_for_a_group(house: House, admin: Account) -> None:
    refused = await house.say(admin, "/群记住 张三欠我钱", group=GROUP, role=Role.OWNER)
    assert "关于别人的事我不记" in (refused or "")


async def test_a_group_forgets_what_its_admin_names(house: House, admin: Account) -> None:
    await house.say(admin, "/群记住 每周五晚八点开团", group=GROUP, role=Role.ADMIN)
    house.facts.hold(admin.scope(PLACE), "我周五开团")
    assert "已忘记" in (await house.say(admin, "/群忘记 开团", group=GROUP, role=Role.ADMIN) or "")
    assert house.facts.texts(await group_scope(house)) == []
    assert house.facts.texts(admin.scope(PLACE)) == ["我周五开团"]


async def test_clearing_a_group_leaves_private_memory_and_other_groups(house: House, admin: Account) -> None:
    await house.say(admin, "/群记住 每周五晚八点开团", group=GROUP, role=Role.ADMIN)
    for place in (PLACE, OTHER_PLACE, ""):
        house.facts.hold(house.bob.scope(place), f"我在{place or '私聊'}说的")
    asked = await house.say(admin, "/清除群记忆", group=GROUP, role=Role.OWNER)
    assert "私聊里的不动" in (asked or "")
    assert "已清除这个群" in (await house.say(admin, "确认", group=GROUP, role=Role.OWNER) or "")
    assert house.facts.texts(house.bob.scope(PLACE)) == []
    assert (
        len(house.facts.texts(house.bob.scope("")))
        == len(house.facts.texts(house.bob.scope(OTHER_PLACE)))
        == 1
    )
    assert [row[1] for row in house.audit.rows] == ["clear_group"]


async def test_the_clearing_is_confirmed_there_in_time_by_who_still_may(house: House, admin: Account) -> None:
    house.facts.hold(house.bob.scope(PLACE), "我说的")
    await house.say(admin, "/清除群记忆", group=GROUP, role=Role.OWNER)
    assert "那个群里" in (await house.say(admin, "确认", group=OTHER_GROUP, role=Role.OWNER) or "")
    assert "群主和群管理员" in (await house.say(admin, "确认", group=GROUP, role=Role.MEMBER) or "")
    assert await house.say(admin, "确认", group=GROUP, role=Role.OWNER) is None
    await house.say(admin, "/清除群记忆", group=GROUP, role=Role.OWNER)
    house.clock.at += CONFIRM_WITHIN
    assert await house.say(admin, "确认", group=GROUP, role=Role.OWNER) is None
    assert house.facts.texts(house.bob.scope(PLACE)) == ["我说的"]


async def test_ones_own_private_memory_is_opened_and_shut_in_private_alone(
    house: House, admin: Account
) -> None:
    def is_open() -> bool:
        return next(account for account in house.accounts.all if account.key == ALICE_QQ).is_open

    assert await house.say(admin, "/群里可用 开", group=GROUP) == "这个请私聊我。"
    assert not is_open()
    assert "也会用" in (await house.say(admin, "/群里可用 开") or "")
    assert is_open()
    assert "请发" in (await house.say(admin, "/群里可用 也许") or "")
    assert is_open()
    assert "只在私聊" in (await house.say(admin, "/群里可用关") or "")
    assert not is_open()
