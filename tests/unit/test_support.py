"""The grounding check, on answers made by hand, and the number forms beneath it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import timing
from equipoise.text.numerals import quantities
from equipoise.text.support import common_words, stem, unsupported
from equipoise.text.tokens import STOP_WORDS

GOLD = "In 1851 two miners from Dublin found 1,200 ounces of gold near Ballarat, worth 2.5 million dollars."
COLD = "On 3 March the temperature fell to -5 °C, and the well-known e-mail server at NASA's base stopped."
STUDY = "The World Health Organization studied 45 patients. Treatment reduced pain in thirty of them."

FORM = "The refunds form of our shop is at https://shop.example/refunds, the page at WWW.shop.example, 2.5/3 stars."

GOOD = [
    (GOLD, "Two miners found gold near Ballarat."),
    (GOLD, "According to the document, the miners came from Dublin."),
    (GOLD, "The discovery was made in 1851."),
    (GOLD, "About 1200 ounces of gold were found."),
    (GOLD, "2 miners were involved."),
    (GOLD, "It was valued at about 2,500,000 dollars."),
    (GOLD, "The passage describes how a miner was finding gold."),
    (GOLD, "1. Gold was found.\n2. It was near Ballarat [1]."),
    (GOLD, "Yes."),
    (GOLD, ""),
    (COLD, "The temperature fell to −5 °C on March 3."),
    (COLD, "An email server stopped."),
    (COLD, "The server is well known."),
    (COLD, "It stopped at the NASA base."),
    (STUDY, "The WHO studied forty-five patients."),
    (STUDY, "Treating 30 patients reduced their pain."),
    (STUDY, "The organisation's study also reduced pain."),
    ("Our neighbours realised it.", "The neighbor realizes it."),
    ("See Chapter 4 for details.", "The details are in chapter four."),
    (FORM, "The form is at https://shop.example/refunds."),
    (FORM, "Use [the form](https://shop.example/refunds) or www.shop.example."),
]

BAD = [
    ("See Chapter 4 for details.", "The main topic is gold.", ("gold",)),
    ("See Chapter 4 for details.", "See Chapter 5 for details.", ("5",)),
    (GOLD, "The miners came from London.", ("London",)),
    (GOLD, "The miners found silver.", ("silver",)),
    (GOLD, "It happened in 1852.", ("1852",)),
    (GOLD, "Three miners found gold.", ("Three",)),
    (GOLD, "They found 1,201 ounces.", ("1,201",)),
    (GOLD, "It was worth 2.5 billion dollars.", ("2.5 billion",)),
    (GOLD, "On May 5 they found gold.", ("May", "5")),
    (GOLD, "Murphy and his wife Anna found gold.", ("Murphy", "wife", "Anna")),
    (COLD, "The temperature fell to 5 °C.", ("5",)),
    (COLD, "The temperature fell to -15 °C.", ("-15",)),
    (COLD, "The FBI server stopped.", ("FBI",)),
    (COLD, "It is a cat-friendly server.", ("cat", "friendly")),
    (STUDY, "The UN studied 45 patients.", ("UN",)),
    (STUDY, "Treatment reduced fever in 45 patients.", ("fever",)),
    (STUDY, "Vaccination reduced pain.", ("Vaccination",)),
    (STUDY, "It was led by Will Smith.", ("Will", "Smith")),
    (STUDY, "Pfizer, Pfizer and PFIZER paid.", ("Pfizer",)),
    (FORM, "See https://shop.example/refunds?form=stars.", ("https://shop.example/refunds?form=stars.",)),
    (FORM, "![form](https://refunds.shop/stars)", ("https://refunds.shop/stars",)),
    (FORM, "See //refunds.example/shop or form.shop/page", ("//refunds.example/shop", "form.shop/page")),
    (FORM, "See www.refunds.example", ("www.refunds.example",)),
    (FORM, "Write to mailto:shop@refunds.example", ("mailto:shop@refunds.example", "mailto")),
]


@pytest.mark.parametrize(("quote", "answer"), GOOD)
def test_supported_answers(quote, answer):
    assert unsupported(answer, [quote]) == ()


@pytest.mark.parametrize(("quote", "answer", "expected"), BAD)
def test_unsupported_answers(quote, answer, expected):
    assert unsupported(answer, [quote]) == expected


def test_titles_count_as_evidence():
    assert unsupported("Ballarat has gold.", ["There is gold."]) == ("Ballarat",)
    assert unsupported("Ballarat has gold.", ["There is gold.", "Ballarat"]) == ()


def test_an_acronym_is_spelled_by_the_initials_of_neighbours_only():
    assert unsupported("The WHO and the U.N.", ["World Health Organization; United Nations"]) == ()
    assert unsupported("The WON", ["World Health Organization; United Nations"]) == ("WON",)
    assert unsupported("AB" * 11, [" ".join("Alpha Beta" for _ in range(11))]) == ("AB" * 11,)


def test_the_common_words_can_be_exchanged():
    assert unsupported("The gold topic", ["gold"], common=frozenset()) == ("topic",)
    assert unsupported("The gold topic", ["silver"], common=frozenset({"gold", "topic"})) == ()


def test_the_common_words_are_lower_case_words_without_topics():
    common = common_words()
    assert 1500 <= len(common) <= 3000
    assert all(word.isalpha() and word == word.casefold() for word in common)
    assert {"accord", "document", "call", "topic", "describe"} <= common
    assert not common & {"gold", "london", "vaccine", "president", "king", "war"}
    assert not common & STOP_WORDS


@pytest.mark.parametrize(
    "forms",
    [
        "plan plans planned planning plan's",
        "study studies studied studying",
        "box boxes boxed",
        "agree agrees agreed agreeing",
        "happy happily",
        "house houses housed housing",
        "see sees seeing",
        "city cities city's",
        "child children",
        "colour colors coloured",
        "realise realizes realised realizing",
        "class classes",
    ],
)
def test_inflections_have_one_stem(forms):
    assert len({stem(form) for form in forms.split()}) == 1


def test_different_words_have_different_stems():
    assert len({stem(w) for w in ["bus", "but", "gas", "analysis", "analyst", "news", "sing", "single"]}) == 8


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("one thousand, 1,000 or 1000.0", ["1000", "1000", "1000"]),
        ("3.10, 007 and -0.50", ["3.1", "7", "-0.5"]),
        ("2.5 million; 1.25 billion", ["2500000", "1250000000"]),
        ("twenty-three, two hundred and five thousand", ["23", "205000"]),
        ("two, three and four", ["2", "3", "4"]),
        ("two three", ["2", "3"]),
        ("1980s, 3rd, third, thirtieth", ["1980", "3", "3", "30"]),
        ("version 1.2.3 of ten", ["1.2.3", "10"]),
        ("five hundred thousand", ["500000"]),
        ("nothing", []),
    ],
)
def test_quantities(text, values):
    assert [quantity.value for quantity in quantities(text)] == values


@given(st.integers(0, 10**12), st.sampled_from(["{}", "{:,}", "{}.0", "0{}"]))
def test_a_whole_number_has_one_value(number, form):
    (quantity,) = quantities(form.format(number))
    assert quantity.value == str(number) or form == "0{}"


@given(st.text(max_size=120), st.lists(st.text(max_size=60), max_size=3))
@settings(deadline=None)
def test_any_text_is_judged_and_every_text_supports_itself(answer, evidence):
    assert all(term in answer for term in unsupported(answer, evidence))
    assert unsupported(answer, [answer]) == ()


@pytest.mark.parametrize("unit", ["a", "a-", "one ", "1 million ", "A. ", "[1]", "x's ", "Ab "])
def test_long_answers_are_judged_in_linear_time(unit):
    def work(size):
        answer = unit * (size // len(unit))
        return lambda: unsupported(answer, [GOLD])

    assert timing.growth(work).ratio < timing.LINEAR
