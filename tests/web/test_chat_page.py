"""The page as a chat: conversations, keyboard, streaming, citations, and the operator's own words and colours."""

import asyncio
import json
import threading

import pytest
from playwright.sync_api import expect

from chatting import OFF, QUESTION, Phrase, ask, asked
from equipoise.apps.server.keys import Scope
from equipoise.models.scripted import ScriptedChat
from serving import WAITS_S, made_index

CATS = "Who feeds the cats of the harbour?"
WRITTEN = '{"answer": "Write-ahead logging does not work over a network filesystem."}'
FERRY = (
    "The ferry to the island leaves the harbour at six in the morning. It is painted blue. "
    "The ferry comes back from the island at nine in the evening."
)
ALWAYS = {"summarize": {"when": "always"}}
PUBLIC = {"public": {"ask": True, "rate": 0, "documents": True}}


def wait_for_stored(page, questions):
    """Wait until the browser keeps conversations with these questions."""
    page.wait_for_function(
        """(questions) => {
            const kept = JSON.parse(localStorage.getItem("equipoise-threads") ?? "[]");
            return JSON.stringify(kept.map((thread) => thread.turns.map((turn) => turn.question)))
                === JSON.stringify(questions);
        }""",
        arg=questions,
    )


def expect_threads(page, names):
    expect(page.locator("button.thread")).to_have_text(names, use_inner_text=True)


def test_conversations_stay_in_the_browser_and_are_found_again(live, visit):
    url, _ = live()
    page = visit(url).page
    asked(page, QUESTION)
    asked(page, OFF)
    page.get_by_role("button", name="New conversation").click()
    expect(page.locator(".turn")).to_have_count(0)
    asked(page, CATS)
    expect_threads(page, [CATS, QUESTION])
    page.reload()
    page.locator(".welcome").wait_for()
    wait_for_stored(page, [[CATS], [QUESTION, OFF]])
    page.get_by_role("button", name=QUESTION, exact=True).click()
    page.locator(".quote .words").first.wait_for()
    expect(page.locator(".turn")).to_have_count(2)
    search = page.get_by_label("Search conversations")
    for words, found in (("tuesday", [QUESTION]), ("fishermen feed", [CATS]), ("nothing of this", [])):
        search.fill(words)
        expect_threads(page, found)
    search.fill("")
    page.get_by_role("button", name=f"Delete “{CATS}”").click()
    expect_threads(page, [QUESTION])
    page.get_by_role("button", name="Delete all").click()
    page.get_by_role("button", name="Really delete all?").click()
    page.reload()
    page.locator(".welcome").wait_for()
    wait_for_stored(page, [])
    expect(page.locator("button.thread")).to_have_count(0)


def test_each_conversation_has_its_own_earlier_questions(live, visit):
    url, _ = live()
    page = visit(url).page
    asked(page, CATS)
    page.get_by_role("button", name="New conversation").click()
    asked(page, "And when do they feed them?")
    expect(page.get_by_text("Read together with an earlier question")).to_have_count(0)


def test_a_browser_that_keeps_nothing_still_chats(live, visit, browser):
    url, _ = live()
    context = browser.new_context()
    refuses = "get() { throw new DOMException('denied', 'SecurityError') }"
    context.add_init_script(
        f"for (const n of ['localStorage', 'sessionStorage']) Object.defineProperty(window, n, {{ {refuses} }})"
    )
    page = context.new_page()
    page.goto(url)
    asked(page, QUESTION)
    page.get_by_role("button", name="New conversation").click()
    expect_threads(page, [QUESTION])
    context.close()


def test_a_conversation_that_does_not_fit_makes_the_oldest_go(live, visit):
    url, _ = live()
    page = visit(url).page
    asked(page, QUESTION)
    page.evaluate("""() => {
        const result = { answer: "a".repeat(50_000) };
        const turns = (n) => [{ id: "x", question: `old ${n}`, result }];
        const old = [...Array(40)].map((_, n) => ({ id: `${n}`, at: n, turns: turns(n) }));
        localStorage.setItem("equipoise-threads", JSON.stringify(old));
        const fill = (name, most, step) => {
            for (let size = most; size > 0; size -= step) {
                try {
                    return localStorage.setItem(name, "b".repeat(size));
                } catch {}
            }
        };
        fill("another", 8_000_000, 100_000);
        fill("more", 100_000, 100);
    }""")
    asked(page, CATS)
    page.wait_for_function(
        """(question) => {
            const kept = JSON.parse(localStorage.getItem("equipoise-threads") ?? "[]");
            return kept[0]?.turns.at(-1).question === question && 1 < kept.length && kept.length < 41;
        }""",
        arg=CATS,
    )


def test_enter_sends_shift_enter_breaks_the_line_and_the_field_is_emptied(live, visit):
    url, _ = live()
    page = visit(url).page
    field = page.get_by_label("Your question")
    expect(field).to_be_focused()
    page.keyboard.type("Does logging work")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("over a network?")
    expect(field).to_have_value("Does logging work\nover a network?")
    expect(page.locator(".turn")).to_have_count(0)
    page.keyboard.press("Enter")
    page.locator(".quote").first.wait_for()
    expect(field).to_have_value("")
    expect(field).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".turn")).to_have_count(1)


def test_the_keyboard_reaches_everything(live, visit):
    url, _ = live()
    page = visit(url).page
    asked(page, QUESTION)
    reached = set()
    for _ in range(25):
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate(
                "document.activeElement.className + ' ' + document.activeElement.textContent.slice(0, 20)"
            )
        )
    for part in ("main wide", "thread", "quote", "Copy"):
        assert any(part in one for one in reached), (part, reached)
    page.locator(".quote").first.focus()
    page.keyboard.press("Enter")
    page.locator("dialog mark").wait_for()
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")
    expect(page.locator(".quote").first).to_be_focused()


class Held(ScriptedChat):
    """A model that waits until it may go on."""

    def __init__(self):
        super().__init__(lambda _: WRITTEN)
        self.go = threading.Event()

    async def complete(self, messages, **how):
        await asyncio.to_thread(self.go.wait, WAITS_S)
        return await super().complete(messages, **how)


def test_quotes_are_read_while_the_answer_is_written(live, visit):
    chat = Held()
    url, _ = live(chat=chat, settings=ALWAYS)
    page = visit(url).page
    ask(page, QUESTION)
    page.locator(".turn .quote").wait_for()
    expect(page.locator(".waiting")).to_be_visible()
    expect(page.locator(".cite")).to_have_count(0)
    expect(page.get_by_label("Your question")).to_have_value("")
    page.get_by_role("log").get_by_role("heading", name=QUESTION).wait_for()
    chat.go.set()
    page.locator(".cite").wait_for()
    expect(page.locator(".waiting")).to_have_count(0)
    expect(page.locator(".chat [role=status]")).to_have_text("Answered.", use_inner_text=True)


def test_an_answer_in_work_is_stopped_and_asked_for_again(live, visit):
    chat = Held()
    url, _ = live(chat=chat, settings=ALWAYS)
    page = visit(url).page
    ask(page, QUESTION)
    page.locator(".turn .quote").wait_for()
    page.get_by_role("button", name="Stop", exact=True).click()
    page.get_by_text("Stopped.").first.wait_for()
    chat.go.set()
    page.get_by_role("button", name="Ask again").click()
    page.locator(".cite").wait_for()
    expect(page.locator(".turn")).to_have_count(1)
    wait_for_stored(page, [[QUESTION]])


def test_an_answer_goes_into_its_own_conversation(live, visit):
    chat = Held()
    url, _ = live(chat=chat, settings=ALWAYS)
    page = visit(url).page
    ask(page, QUESTION)
    page.locator(".turn .quote").wait_for()
    page.get_by_role("button", name="New conversation").click()
    expect(page.locator(".turn")).to_have_count(0)
    chat.go.set()
    page.get_by_role("button", name=QUESTION, exact=True).click()
    page.locator(".cite").wait_for()
    expect(page.locator(".turn")).to_have_count(1)


def test_a_number_shows_its_quote_and_a_click_opens_the_document(live, visit):
    url, _ = live(chat=ScriptedChat(lambda _: WRITTEN), settings=ALWAYS | PUBLIC)
    page = visit(url).page
    asked(page, QUESTION)
    number = page.get_by_role("button", name="Quote 1, ")
    expect(page.locator(".answer")).to_contain_text("Write-ahead logging does not work", use_inner_text=True)
    number.hover()
    tip = page.get_by_role("tooltip")
    tip.wait_for()
    expect(tip).to_contain_text("since all processes share memory")
    expect(tip).to_contain_text("line 1")
    tip.hover()
    page.keyboard.press("Escape")
    tip.wait_for(state="detached")
    page.get_by_label("Your question").focus()
    number.focus()
    number.click()
    page.locator("dialog mark").wait_for()
    expect(page.locator("dialog mark")).to_contain_text(
        "since all processes share memory", use_inner_text=True
    )


def test_a_tap_shows_the_quote_and_a_second_one_opens_it(live, visit):
    url, _ = live(chat=ScriptedChat(lambda _: WRITTEN), settings=ALWAYS)
    page = visit(url, has_touch=True, is_mobile=True, viewport={"width": 360, "height": 700}).page
    asked(page, QUESTION)
    page.get_by_role("button", name="Quote 1, ").tap()
    tip = page.get_by_role("tooltip")
    tip.wait_for()
    for _ in range(600):  # it is put in its place once it is drawn
        box = tip.bounding_box()
        if box["x"] >= 0 and box["x"] + box["width"] <= 360:
            break
        page.wait_for_timeout(100)
    assert box["x"] >= 0 and box["x"] + box["width"] <= 360
    expect(page.locator("dialog")).to_have_count(0)
    page.get_by_role("button", name="Quote 1, ").tap()
    page.locator("dialog mark").wait_for()


def test_every_part_of_a_citation_is_marked_and_the_link_to_it_marks_the_same(live, visit, tmp_path):
    path = made_index(tmp_path, ferry=FERRY)
    url, _ = live(path=path, highlighter=Phrase(), settings=PUBLIC)
    page = visit(url).page
    asked(page, 'When is "leaves the harbour" and "comes back from"')
    quote = page.locator(".quote")
    expect(quote).to_have_count(1)
    quote.click()
    page.locator("dialog mark").first.wait_for()
    marked = page.locator("dialog mark").all_inner_texts()
    assert [words.split(" ferry ")[1].split(" the ")[0] for words in marked] == ["to", "comes back from"]
    address = page.evaluate("""() => new Promise((resolve) => {
        navigator.clipboard.writeText = async (text) => resolve(text);
        [...document.querySelectorAll("dialog button")].find((one) => one.textContent === "Copy link").click();
    })""")
    other = visit(address).page
    other.locator("dialog mark").first.wait_for()
    expect(other.locator("dialog mark")).to_have_text(marked, use_inner_text=True)


def test_an_answer_is_copied_with_its_places(live, visit, browser):
    url, _ = live()
    page = visit(url, permissions=["clipboard-read", "clipboard-write"]).page
    asked(page, QUESTION)
    page.get_by_role("button", name="Copy", exact=True).click()
    page.get_by_role("button", name="Copied", exact=True).wait_for()
    text = page.evaluate("navigator.clipboard.readText()")
    assert text.startswith("Write-ahead logging does not work") and "\n[1] " in text and "wal.txt" in text


def test_the_original_is_fetched_where_the_operator_allows_it(live, visit):
    url, _ = live(originals=True, settings=PUBLIC)
    page = visit(url).page
    asked(page, QUESTION)
    page.locator(".quote").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Original").click()
    assert download.value.suggested_filename == "wal.txt"


def test_a_visitor_sees_answers_and_nothing_of_how_they_were_made(live, visit):
    url, _ = live(chat=ScriptedChat(lambda _: WRITTEN), settings=ALWAYS | PUBLIC)
    page = visit(url).page
    asked(page, QUESTION)
    asked(page, OFF)
    for words in ("summarizer", "filter", "candidate", "probability"):
        expect(page.get_by_text(words)).to_have_count(0)
    expect(page.get_by_role("button", name="Documents")).to_have_count(0)
    page.get_by_text("Our documents do not seem to answer this.").wait_for()


@pytest.mark.parametrize(("expert", "shown"), [("everybody", True), ("nobody", False)])
def test_one_switch_of_the_operator_says_who_sees_what_experts_want(live, visit, expert, shown):
    url, _ = live(settings=PUBLIC | {"page": {"expert": expert}})
    page = visit(url).page
    asked(page, QUESTION)
    expect(page.get_by_text("What the summarizer saw")).to_have_count(1 if shown else 0)


def test_a_visitor_is_told_in_his_own_words_what_went_wrong(live, visit):
    url, service = live(settings={"public": {"ask": True, "questions": 1}, "page": {"language": "de"}})
    page = visit(url).page
    german = page.get_by_label("Ihre Frage")
    german.fill(QUESTION)
    german.press("Enter")
    page.locator(".quote").first.wait_for()
    german.fill(CATS)
    german.press("Enter")
    expect(page.get_by_role("alert")).to_have_text(
        "Heute können keine weiteren Fragen beantwortet werden.", use_inner_text=True
    )
    assert service.keys.book.rows("SELECT 1 FROM spent")


def test_a_failure_here_is_not_told_to_a_visitor(live, visit):
    chat = ScriptedChat([RuntimeError("secret-host.internal said no")] * 9)
    url, _ = live(chat=chat, settings=ALWAYS | PUBLIC)
    watched = visit(url)
    ask(watched.page, QUESTION)
    watched.page.get_by_text("Something went wrong. Please try again").first.wait_for()
    expect(watched.page.get_by_text("secret-host")).to_have_count(0)


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en-GB", ("Your question", "Send", "What would you like to know?")),
        ("de-CH", ("Ihre Frage", "Senden", "Was möchten Sie wissen?")),
        ("fr", ("Votre question", "Envoyer", "Que voulez-vous savoir ?")),
        ("sv", ("Your question", "Send", "What would you like to know?")),
    ],
)
def test_it_speaks_the_language_of_the_browser(live, visit, language, words):
    field, send, greeting = words
    url, _ = live(settings=PUBLIC)
    page = visit(url, locale=language).page
    page.get_by_role("heading", name=greeting).wait_for()
    page.get_by_label(field).fill("Hello!")
    page.get_by_role("button", name=send, exact=True).click()
    page.locator(".reply .answer").wait_for()
    expect(page.locator("html")).to_have_attribute("lang", language[:2] if language != "sv" else "en")


def test_name_logo_colours_and_words_are_the_operators(live, visit, tmp_path):
    (tmp_path / "logo.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M0 0h9v9z"/></svg>'
    )
    (tmp_path / "texts.toml").write_text('send = "Go"\n[fr]\nsend = "Allez"\n')
    look = {
        "name": "Harbour Books",
        "logo": tmp_path / "logo.svg",
        "texts": tmp_path / "texts.toml",
        "accent": "#ffd000",
        "scheme": "light",
        "welcome": "Ahoy!",
        "examples": [QUESTION],
        "note": "Answers are quotes.",
    }
    url, _ = live(settings=PUBLIC | {"page": look, "question": {"contact": "Or write to desk@example.org."}})
    page = visit(url, color_scheme="dark").page
    page.get_by_role("heading", name="Ahoy!").wait_for()
    expect(page).to_have_title("Harbour Books")
    page.wait_for_function("() => document.querySelector('.logo')?.naturalWidth > 0")
    for words in ("Answers are quotes.", "Or write to desk@example.org."):
        page.get_by_text(words).wait_for()
    page.get_by_role("button", name="Go", exact=True).wait_for()
    expect(page.locator("body")).to_have_css("background-color", "rgb(251, 251, 249)")
    page.get_by_role("button", name=QUESTION).click()
    page.locator(".quote").first.wait_for()
    accent = page.locator(".bubble").evaluate("one => getComputedStyle(one).backgroundColor")
    assert accent not in ("rgb(255, 208, 0)", "rgb(29, 79, 110)")  # yellow could not be read


def test_an_empty_conversation_says_what_the_documents_are_about(live, visit, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "boats.md").write_text(
        "# All about boats\n\nThe boat leaves the harbour at six in the morning."
    )
    url, _ = live(path=made_index(tmp_path), settings=PUBLIC)
    page = visit(url).page
    page.locator(".about").get_by_text("All about boats").wait_for()


def test_a_link_to_a_quote_opens_without_a_key_and_asking_stays_closed(live, visit):
    url, service = live(settings={"public": {"documents": True}})
    [item] = service.library.ask(QUESTION).highlights.items
    service.keys.create("asker", Scope.ASK)
    page = visit(f"{url}/?doc={item.doc_id}&start={item.start}&end={item.end}").page
    page.locator("dialog mark").wait_for()
    expect(page.locator("dialog mark")).to_have_text(item.text, use_inner_text=True)
    expect(page.get_by_label("Your question")).to_have_count(0)


def test_what_is_stored_holds_no_passages(live, visit):
    url, _ = live()
    page = visit(url).page
    asked(page, QUESTION)
    [thread] = json.loads(page.evaluate("localStorage.getItem('equipoise-threads')"))
    assert not {"passages", "summarizer_saw", "flagged"} & set(thread["turns"][0]["result"])
