"""Who asked rates an answer on the page, and an admin reads it there."""

from playwright.sync_api import expect

from chatting import OFF, QUESTION, asked
from equipoise.apps.server.answers import View
from equipoise.apps.server.keys import Scope

PUBLIC = {"public": {"ask": True, "rate": 0}}
WORDS = "It does not say <b>how fast</b>."


def rated(service):
    [row] = service.answers.questions(View.ASKED, 1, 10)
    return row.up, row.down, row.comments


def test_a_thumb_and_a_comment_are_kept_with_the_answer(live, visit):
    url, service = live(settings=PUBLIC)
    page = visit(url).page
    asked(page, QUESTION)
    down = page.get_by_role("button", name="Not helpful")
    with page.expect_response("**/v1/feedback"):
        down.click()
    expect(down).to_have_attribute("aria-pressed", "true")
    assert rated(service) == (0, 1, [])
    page.get_by_label("What should we know?").fill(WORDS)
    page.get_by_label("What should we know?").press("Enter")
    expect(page.get_by_text("Thank you.")).to_be_visible()
    assert rated(service) == (0, 1, [WORDS])
    with page.expect_response("**/v1/feedback"):
        page.get_by_role("button", name="Helpful", exact=True).click()
    expect(down).to_have_attribute("aria-pressed", "false")
    assert rated(service)[:2] == (1, 0)


def test_an_answer_that_is_no_longer_kept_says_so(live, visit):
    url, service = live(settings=PUBLIC)
    page = visit(url).page
    asked(page, QUESTION)
    with service.book.writing():
        service.book.rows("DELETE FROM answers")
    thumb = page.get_by_role("button", name="Helpful", exact=True)
    thumb.click()
    expect(page.get_by_text("This answer can no longer be rated.")).to_be_visible()
    expect(thumb).to_have_attribute("aria-pressed", "false")


def test_where_feedback_is_off_there_are_no_thumbs(live, visit):
    url, _ = live(settings=PUBLIC, feedback=False)
    page = visit(url).page
    asked(page, QUESTION)
    expect(page.get_by_role("button", name="Copy", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Helpful", exact=True)).to_have_count(0)


def test_an_admin_reads_what_was_asked_and_takes_it_as_a_sheet(live, visit):
    url, service = live(trace=True)
    page = visit(url).page
    asked(page, QUESTION)
    asked(page, OFF)
    page.get_by_role("button", name="Not helpful").first.click()
    page.get_by_label("What should we know?").fill(WORDS)
    page.get_by_label("What should we know?").press("Enter")
    expect(page.get_by_text("Thank you.")).to_be_visible()
    page.get_by_role("button", name="Questions").click()
    expect(page.get_by_text("Server: ready")).to_be_visible()
    table = page.get_by_role("table")
    expect(table.get_by_role("cell", name=OFF)).to_be_visible()
    expect(table.get_by_role("cell", name=QUESTION)).to_have_count(0)
    show = page.get_by_role("combobox", name="Show")
    show.select_option("worst")
    expect(table.get_by_role("cell", name=WORDS)).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    assert download.value.suggested_filename == "worst.csv"
    assert WORDS in download.value.path().read_text("utf-8")
    service.keys.create("asker", Scope.ASK)
    show.select_option("spent")
    expect(page.get_by_role("alert")).to_be_visible()
