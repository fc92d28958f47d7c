"""A click on a quote opens its document as it is laid out, every span of the citation marked."""

import pytest
from playwright.sync_api import expect

from chatting import Phrase, asked
from equipoise.corpus.indexing import index
from equipoise.corpus.store import Store
from hashed_words import HashedWords

MARKDOWN = """# Refunds of the shop

Some **bold** prose with a [link](javascript:alert(1)) and `code` in it.

## Fees

| Plan | Price |
|---|---|
| Basic plan | five coins |
| Pro plan | nine <b>coins</b> |

Steps to take:

1. Open the red door slowly.
   - Knock on the door first.
2. Close the red door again.

```sh
make <script>alert(1)</script> demo
```
"""
HTML = """<h1>Refunds of the shop</h1><p>Some <i>prose</i> <img src=x onerror=alert(1)> about the shop here.</p>
<h2>Fees</h2>
<table><tr><th>Plan</th><th>Price</th></tr><tr><td>Basic plan</td><td>five coins</td></tr>
<tr><td>Pro plan</td><td>nine coins</td></tr></table>
<p>Steps to take:</p><ul><li>Open the red door slowly.</li><li>Close the red door again.</li></ul>"""
SETTINGS = {"retrieval": {"k": 20}, "question": {"spelling": False}}


@pytest.fixture
def opened(live, visit, tmp_path):
    """`opened(name, text, *words)`: the reader at the quote with these words of a document."""

    def made(name, text, *words):
        path = tmp_path / "docs" / name
        path.parent.mkdir()
        path.write_text(text)
        with Store.open(tmp_path / "index.db", create=True) as store:
            index(path, store, HashedWords())
        url, _ = live(path=tmp_path / "index.db", highlighter=Phrase(), settings=SETTINGS)
        page = visit(url).page
        asked(page, "Where is " + " and ".join(f'"{one}"' for one in words))
        page.locator(".quote").first.click()
        expect(page.locator("dialog mark").first).to_be_visible()
        return page.locator("dialog .paper")

    return made


@pytest.mark.parametrize(("name", "text"), [("shop.md", MARKDOWN), ("shop.html", HTML)])
def test_a_document_has_its_headings_tables_and_lists(opened, name, text):
    paper = opened(name, text, "five coins")
    expect(paper.get_by_role("heading", level=3)).to_have_text("Refunds of the shop")
    expect(paper.get_by_role("heading", level=4)).to_have_text("Fees")
    expect(paper.get_by_role("columnheader")).to_have_text(["Plan", "Price"])
    expect(paper.get_by_role("cell", name="five coins")).to_have_count(1)
    expect(paper.get_by_role("row")).to_have_count(3)
    marked = "".join(paper.locator("mark").all_inner_texts())
    assert "Basic plan" in marked and "five coins" in marked and "Pro" not in marked
    expect(paper.get_by_role("listitem").first).to_contain_text("Open the red door slowly.")
    expect(paper.locator("img, script, a")).to_have_count(0)


def test_what_spans_a_table_stands_across_it_and_the_cells_of_a_quote_are_marked(opened):
    html = """<table><tr><th>Plan</th><th>Price</th><th>Days</th></tr><tr><td colspan=3>For one</td></tr>
<tr><td>Basic plan</td><td>five coins</td><td>two</td></tr><tr><td colspan=3>For all</td></tr>
<tr><td>Pro plan</td><td>nine coins</td><td>four</td></tr></table>"""
    paper = opened("shop.html", html, "five coins")
    expect(paper.get_by_role("columnheader")).to_have_text(["Plan", "Price", "Days"])
    expect(paper.locator("td[colspan='3']")).to_have_text(["For one", "For all"])
    expect(paper.locator("td mark")).to_have_text(["Basic plan", "five coins", "two"])


def test_markdown_is_set_and_its_code_is_code(opened):
    paper = opened("shop.md", MARKDOWN, "bold")
    expect(paper.locator("strong")).to_have_text("bold")
    expect(paper.locator("p", has_text="Some")).to_have_text("Some bold prose with a link and code in it.")
    assert "".join(paper.locator("mark").all_inner_texts()) == "Some bold prose with a link and code in it."
    expect(paper.locator("pre")).to_have_text("make <script>alert(1)</script> demo")
    expect(paper.get_by_role("listitem")).to_have_text(
        ["1. Open the red door slowly.", "• Knock on the door first.", "2. Close the red door again."]
    )


def test_every_span_of_a_citation_is_marked(opened):
    words = ["Open the red door", "Close the red door"]
    paper = opened("shop.html", HTML, *words)
    expect(paper.locator("mark")).to_have_count(2)


def test_the_rest_of_a_long_document_is_fetched(opened):
    def filler(word):
        return "\n\n".join(f"The {word} {row} tells of the weather in that year." for row in range(900))

    oak, end = "The treasure lies under the oak.", "The end is here."
    text = "\n\n".join(("# Start", filler("almanac"), oak, filler("calendar"), end))
    paper = opened("long.md", text, "treasure lies")
    expect(paper.get_by_role("heading", name="Start")).to_have_count(0)
    while paper.get_by_role("button", name="Earlier text").count():
        before = paper.locator("p").count()
        paper.get_by_role("button", name="Earlier text").click()
        expect(paper.locator("p")).not_to_have_count(before)
    expect(paper.get_by_role("heading", name="Start")).to_be_visible()
    while paper.get_by_role("button", name="Further text").count():
        before = paper.locator("p").count()
        paper.get_by_role("button", name="Further text").click()
        expect(paper.locator("p")).not_to_have_count(before)
    expect(paper.get_by_text("The end is here.")).to_be_attached()
    expect(paper.locator("mark")).to_have_text("The treasure lies under the oak.")


def test_admins_see_a_document_as_it_was_read(opened):
    paper = opened("shop.html", f"<nav>Home | Shop | Us</nav>{HTML}", "five coins")
    page = paper.page
    page.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Documents", exact=True).click()
    page.get_by_role("button", name="shop.html as it was read").click()
    expect(paper.get_by_role("heading", level=4)).to_have_text("Fees")
    expect(paper.get_by_role("columnheader")).to_have_text(["Plan", "Price"])
    expect(paper.get_by_role("listitem")).to_have_count(2)
    expect(paper.locator("p", has_text="Home")).to_contain_text("(never quoted)")
    expect(paper.locator("mark")).to_have_count(0)
