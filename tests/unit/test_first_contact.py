"""The notice: once, behind an answer, never in place of one, never one by one in a group."""

import pytest

from bot.conversation.message import Kind, Reply
from bot.conversation.scope import AccountId, PersonId
from bot.conversation.wording import Wording
from bot.first_contact import FirstContact
from identity.model import Account
from tests.story_fakes import account_key, message

WORDING = Wording.load("zh_CN")
NOTICE = WORDING.say("first_notice", name="小记")
ANSWER = Reply(text="九点开门。", decided_by="faq")


class Accounts:
    def __init__(self) -> None:
        self.greeted: list[AccountId] = []

    async def mark_greeted(self, account: AccountId) -> None:
        self.greeted.append(account)


@pytest.fixture
def accounts() -> Accounts:
    return Accounts()


@pytest.fixture
def contact(accounts: Accounts) -> FirstContact:
    return FirstContact(accounts, WORDING, lambda _: "小记")  # type: ignore[arg-type]


def account(*, is_greeted: bool = False) -> Account:
    return Account(
        id=AccountId(7), key=account_key(), unionid="", person=PersonId(3), epoch=0, is_greeted=is_greeted
    )


async def test_the_first_answer_carries_the_notice(contact: FirstContact, accounts: Accounts) -> None:
    text = await contact.introduce(message("1"), account(), ANSWER, ANSWER.text)
    assert text == f"九点开门。\n\n{NOTICE}"
    assert accounts.greeted == [7]


async def test_later_ones_do_not(contact: FirstContact, accounts: Accounts) -> None:
    assert await contact.introduce(message("1"), account(is_greeted=True), ANSWER, "好") == "好"
    assert accounts.greeted == []


async def test_members_of_a_group_are_not_told_one_by_one(contact: FirstContact, accounts: Accounts) -> None:
    assert await contact.introduce(message("1", group="g1"), account(), ANSWER, "好") == "好"
    assert accounts.greeted == [], "their first private answer tells them"


async def test_a_welcome_is_the_notice(contact: FirstContact, accounts: Accounts) -> None:
    follow = message("1", kind=Kind.FOLLOW)
    welcome = contact.welcome(follow)
    assert welcome.text == WORDING.say("welcome", name="小记")
    assert await contact.introduce(follow, account(), welcome, welcome.text) == welcome.text
    assert accounts.greeted == [7]


def test_a_group_is_welcomed_as_a_group(contact: FirstContact) -> None:
    joined = message("1", kind=Kind.FOLLOW, group="g1")
    assert contact.welcome(joined).text == WORDING.say("welcome_group", name="小记")


async def test_a_name_in_braces_is_a_name(accounts: Accounts) -> None:
    contact = FirstContact(accounts, WORDING, lambda _: "{answer}%s")  # type: ignore[arg-type]
    assert "{answer}%s" in await contact.introduce(message("1"), account(), ANSWER, "好")
