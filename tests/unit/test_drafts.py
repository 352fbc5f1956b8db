"""Drafts: what is shown of an answer that is still being written."""

from bot.answering.drafts import Draft, Drafts, rest_of

KEY = ("gh_1", "m1")


def draft_of(*pieces: str) -> Draft:
    draft = Draft()
    draft.begin(str)
    for piece in pieces:
        draft.add(piece)
    return draft


def test_nothing_finished_is_nothing_and_may_be_asked_for_again() -> None:
    draft = draft_of("还没")
    assert draft.take() == ""
    draft.add("说完。然")
    assert draft.take() == "还没说完。"


def test_what_was_shown_stays_as_it_was() -> None:
    draft = draft_of("第一句。第")
    assert draft.take() == "第一句。"
    draft.add("二句。")
    assert draft.take() == draft.shown() == "第一句。"


def test_once_the_rest_is_laid_out_nothing_more_is_shown() -> None:
    draft = draft_of("第一句。")
    assert draft.shown() == ""
    draft.add("第二句。")
    assert draft.take() == ""


def test_no_more_than_fits_where_it_is_shown() -> None:
    assert draft_of("一。" * 200).take(lambda text: len(text.encode()) <= 100) == "一。" * 16
    assert draft_of("很长的一句。").take(lambda text: len(text) < 3) == ""


def test_no_sentence_that_the_final_text_would_not_have() -> None:
    draft = Draft()
    draft.begin(lambda text: text.replace("坏", "好"))
    draft.add("一句。这个坏。三句。")
    assert draft.take() == "一句。"


def test_half_of_a_failed_answer_is_not_shown() -> None:
    draft = draft_of("第一句。第")
    draft.discard()
    assert draft.take() == ""
    shown = draft_of("第一句。第")
    shown.take()
    shown.discard()
    assert shown.shown() == "第一句。"


def test_a_new_beginning_starts_anew() -> None:
    draft = draft_of("第一次。")
    draft.begin(str)
    draft.add("第二次。")
    assert draft.take() == "第二次。"


def test_drafts_are_told_apart_by_account_and_message() -> None:
    drafts = Drafts()
    for app_id, key in (KEY, ("gh_1", "m2"), ("gh_2", "m1")):
        draft = drafts.begin(app_id, key)
        draft.begin(str)
        draft.add(f"{app_id} {key}。")
    assert drafts.take(*KEY) == drafts.shown(*KEY) == "gh_1 m1。"
    assert drafts.take("gh_2", "m1", lambda text: len(text) < 3) == ""


def test_a_draft_vanishes_with_its_answer() -> None:
    drafts = Drafts()
    drafts.begin(*KEY).add("完。")
    drafts.end(*KEY)
    drafts.end(*KEY)
    assert drafts.take(*KEY) == drafts.shown(*KEY) == ""
    assert not drafts._drafts


def test_the_rest() -> None:
    assert rest_of("一。二。", "一。") == "二。"
    assert rest_of("一。", "一。") == ""
    assert rest_of("别的。", "一。") == "别的。"
    assert rest_of("一。", "") == "一。"
