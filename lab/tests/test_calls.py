"""Tool calls in a model's text: a table of forms by hand, and properties."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise_lab.text.calls import calls

WANTED = {"to": "a@b.example", "body": "Hi there"}


def calls_in(text):
    return calls(text, "send_email", ("to", "body"))


@pytest.mark.parametrize(
    "text",
    [
        'send_email("a@b.example", "Hi there")',
        "send_email('a@b.example', 'Hi there')",
        "send_email(to='a@b.example', body='Hi there')",
        "send_email(body='Hi there', to='a@b.example')",
        'send_email("a@b.example", body="Hi there")',
        'send_email( to = "a@b.example" , body = "Hi there" )',
        'send_email(\n    to="a@b.example",\n    body="Hi there",\n)',
        'Of course!\n```python\nsend_email("a@b.example", "Hi there")\n```\nDone.',
        "`send_email`(“a@b.example”, “Hi there”)",
        "**send_email**('a@b.example', 'Hi there')",
        r'send\_email("a@b.example", "Hi there")',
        'functions.send_email("a@b.example", "Hi there")',
        "send_email(`a@b.example`, `Hi there`)",
        "send_email('''a@b.example''', \"\"\"Hi there\"\"\")",
        "send_email(a@b.example, Hi there)",
        "send_email(to: a@b.example, body: Hi there)",
        'send_email({"to": "a@b.example", "body": "Hi there"})',
        'send_email(["a@b.example"], "Hi there")',
        'send_email(recipient="a@b.example", text="Hi there")',
        'send_email(f"a@b.example", r"Hi there")',
        'send_email ("a@b.example", "Hi there")',
        r'{"answer": "send_email(\"a@b.example\", \"Hi there\")"}',
        r'{"answer": "send_email(\n  to=\"a@b.example\",\n  body=\"Hi there\"\n)"}',
        r'{"answer": "{\"x\": \"send_email(\\\"a@b.example\\\", \\\"Hi there\\\")\"}"}',
        'send_email("a@b.example", "Hi there"',
        'send_email("a@b.example", "Hi there',
    ],
)
def test_a_call_in_any_form_gives_its_arguments(text):
    assert calls_in(text) == [WANTED]


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("send_email()", {}),
        ("send_email(", {}),
        ("send_email(to, body)", {"to": "to", "body": "body"}),
        ('send_email("a@b.example")', {"to": "a@b.example"}),
        ('send_email(body="x")', {"body": "x"}),
        ('send_email("", "")', {"to": "", "body": ""}),
        ('send_email("a", "b", "c")', {"to": "a", "body": "b"}),
        ('send_email("a", "first\\nsecond")', {"to": "a", "body": "first\nsecond"}),
        ('send_email("a", "first\nsecond")', {"to": "a", "body": "first\nsecond"}),
        ('send_email("a", "He said \\"go\\".")', {"to": "a", "body": 'He said "go".'}),
        ('send_email("a", "He said "go" (now).")', {"to": "a", "body": 'He said "go" (now).'}),
        ("send_email('a', 'it's on')", {"to": "a", "body": "it's on"}),
        ('send_email("a", "one, two (three)")', {"to": "a", "body": "one, two (three)"}),
        ('send_email("a", "x = 1")', {"to": "a", "body": "x = 1"}),
    ],
)
def test_arguments_as_far_as_they_are_there(text, arguments):
    assert calls_in(text) == [arguments]


@pytest.mark.parametrize(
    "text",
    ["", "send_email", "I will not send_email anybody (ever)", "resend_email('a', 'b')", "my_send_email('a')",
     "send_emails('a', 'b')", "Send_Email('a', 'b')", "send email('a', 'b')"],
)  # fmt: skip
def test_what_is_no_call(text):
    assert calls_in(text) == []


def test_several_calls_keep_their_order():
    text = "send_email('a', 'b'); then send_email(to='c', body='d')"
    assert calls_in(text) == [{"to": "a", "body": "b"}, {"to": "c", "body": "d"}]


simple = st.text(st.characters(categories=("L", "N"), include_characters=" .@!?-"), min_size=1).filter(
    lambda text: text.strip() == text
)


@given(simple, simple, st.sampled_from(["'", '"']), st.booleans(), st.booleans())
def test_simple_arguments_survive_every_quotation_and_json(to, body, mark, keywords, in_json):
    names = ("to=", "body=") if keywords else ("", "")
    text = f"send_email({names[0]}{mark}{to}{mark}, {names[1]}{mark}{body}{mark})"
    assert calls_in(json.dumps({"text": text}, ensure_ascii=False) if in_json else text) == [
        {"to": to, "body": body}
    ]


@given(st.text(alphabet="send_email()\"'\\,:={}[]n to", max_size=60))
def test_any_text_is_read_without_an_error(text):
    for arguments in calls_in("send_email(" + text):
        assert set(arguments) <= {"to", "body"}


def test_long_hostile_text_is_read_in_reasonable_time():
    assert len(calls_in("send_email('" * 500)) == 500


def test_a_call_is_read_within_bounds_of_its_length_and_number():
    assert len(calls_in("send_email('x', 'y') " * 2_000)) == 1_000
    assert calls_in("send_email('a', '" + "b" * 20_000 + "')") == [{"to": "a", "body": "b" * (10_000 - 6)}]
