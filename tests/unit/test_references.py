"""Which questions only make sense after an earlier one, and which stand alone."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.text.references import follows_up, refers_back


@pytest.mark.parametrize(
    "question",
    [
        "When did he die?",
        "What do they cost?",
        "Who wrote it?",
        "What is it called?",
        "How old was her son?",
        "When was its roof built?",
        "What year was his wife born?",
        "How many people live there?",
        "When was that?",
        "Who pays for these?",
        "Is the latter free?",
        "And who told them?",
        "When did he die? Please be brief.",
        "How does the president appoint them?",
        "What does the manual say about it?",
    ],
)
def test_pronouns_refer_back(question):
    assert refers_back(question)
    assert follows_up(question)


@pytest.mark.parametrize(
    "question",
    [
        "When did Acme move its office?",
        "Did Ada say when she left?",
        "Is it possible to park?",
        "How long does it take to get a refund?",
        "What is the form that I need?",
        "What is open this week?",
        "Is there a fee?",
        "May I park here?",
        "What time is it?",
        "Does the shop close its doors at noon?",
        "The ferry is slow. Is it safe?",
        "The ferry to Kent: is it safe?",
        "If a file is locked, what should I do about that?",
        "When a pathogen has been eaten by a phagocyte it is trapped in what?",
        "identify songs by how they sound",
        "How many modes are there?",
        "What is it called when a page is written back?",
        "",
    ],
)
def test_what_has_its_own_name_or_needs_none(question):
    assert not refers_back(question)
    assert not follows_up(question)


@pytest.mark.parametrize(
    "question",
    [
        "And who elects him?",
        "and how old is he",
        "And where does he live?",
        "But why?",
        "Or by train?",
        "And?",
        "Why?",
        "Why not?",
        "Why is that?",
        "Why is that so slow?",
        "Why is that not allowed?",
        "What about France?",
        "And what about members?",
        "How about on Windows?",
        "and in france",
        "And in France?",
        "In France?",
        "With a password?",
        "On Windows?",
        "On the weekend?",
        "For members only?",
        "If I lose it?",
        "If the disk is full?",
        "Which one is faster?",
        "Which ones are free?",
        "Which is better?",
        "Which should I use?",
        "Which of the two should I take if I am not sure?",
        "What is the difference between the two?",
        "What's the difference?",
        "What is the difference between them?",
        "What else can I do?",
        "Anything else?",
        "Is there anything else I need?",
        "How do I undo that?",
        "Can I do that in the browser?",
        "What happens then?",
        "What happens otherwise?",
        "What should I use instead?",
        "Is the same true for members?",
        "Same for members?",
        "How long?",
        "For how long?",
        "Since when?",
        "How come?",
        "How many?",
        "Which file?",
        "What kind?",
        "By whom?",
        "Tell me more.",
        "tell me more",
        "Thanks! And who elects him?",
        "Thanks, who elects him?",
        "OK, and in winter?",
        "ok and how much does a second copy cost?",
        "Great. What about children?",
        "And the capital?",
        "And its capital?",
        "Where can I get one?",
        "Do I need one?",
        "Are there others?",
        "Is there another one?",
        "What does the second one do?",
        "How big can that file get?",
        "Who paid for that?",
        "Who won that year?",
        "In that case, who pays?",
        "If so, who pays?",
        "If not, what then?",
        "Are such files deleted?",
        "Who wrote it?",
        "What is it called?",
        "Can he veto laws?",
        "Does it work on Windows?",
        "What do they cost?",
        "How old was her son?",
        "When did she die?",
        "Is the latter free?",
        "Can I turn it off?",
        "is it free?",
        "what does it cost?",
        "Does this also hold for members?",
        "Are these free?",
        "How do I change it back?",
        "So who pays for it?",
        "And how do I get back to one of those?",
        "Which languages do they speak there?",
        "Can I use both?",
        "Is lunch free as well?",
        "And when does the office close?",
        "But what is the fee for children?",
    ],
)
def test_what_follows_up(question):
    assert follows_up(question)


@pytest.mark.parametrize(
    "question",
    [
        "Who elects the king of Malaysia?",
        "And how do I tell NA from NaN?",
        "And who led Debian in 1999?",
        "When does the office open?",
        "Can I return a jacket after 30 days?",
        "If a file is locked, how do I open it?",
        "How do I undo a commit once it is pushed?",
        "What happens to the data when I delete it?",
        "Can a member bring his dog?",
        "When a user logs in, what does she see?",
        "Is it possible to park here?",
        "How long does it take to get a refund?",
        "What does it mean when a page is dirty?",
        "Does it matter if the disk is full?",
        "Is it a good idea to use WAL?",
        "Is it hard to learn?",
        "What is this document about?",
        "Who wrote this book?",
        "What happens to those who pay late?",
        "How many countries are there?",
        "How many journal modes are there in total?",
        "page size",
        "maximum length of a blob",
        "not",
        "and",
        "between",
        "having",
        "where",
        "NOT NULL",
        "Who are you?",
        "What can you do?",
        "How are you?",
        "What is WAL mode?",
        "What is the default page size?",
        "Which of the three branches of government makes laws?",
        "Which country is larger, Mali or Chad?",
        "Which journal mode is the default?",
        "Which is the largest lake of the country?",
        "Which should I use, rsync or tar?",
        "Why does SQLite lock the file?",
        "Why is the sky blue?",
        "What is the difference between a badge and a key?",
        "Is the same file read twice?",
        "Is there such a thing as a vacuum?",
        "Does Acme let its staff park?",
        "Who founded Acme and when did he die?",
        "How do I use a key instead of a password?",
        "What files such as logs are kept?",
        "On which days is the gate open?",
        "In which case is the fee returned?",
        "My printer is broken. Can I get it repaired?",
        "I lost my badge. What does it cost?",
        "The ferry is slow. Is it safe?",
        "Backups: where are they kept?",
        "What is the power of steam compared to that of coal?",
        "Was kostet das?",
        "Wer wählt ihn?",
        "Und wer wählt ihn?",
        "Wie lange dauert es?",
        "Kann man das hin und her schieben?",
        "Qui élit le président ?",
        "On peut payer par carte ?",
        "Thanks!",
        "Hello",
        "hello there",
        "Great Britain",
        "Great Britain's capital?",
        "Right of way",
        "Yes Minister, who wrote the series?",
        "?",
        "...",
        "",
        "42",
        "What about-face did the army make?",
        "Does the shop close its doors at noon?",
        "How do I get from Kent to the ferry?",
        "When was the first one-way street opened?",
        "Who is the other half of the band?",
        "In welchem Jahr begann das?",
        "As-tu payé ?",
        "In which case is the fee returned by the shop?",
    ],
)
def test_what_stands_alone(question):
    assert not follows_up(question)


def test_spaces_and_marks_do_not_matter():
    for question in (" And\nwho  elects him ", "and who elects him?!", "And, who elects him?"):
        assert follows_up(question)


def test_real_questions_stand_alone(sample_data):
    rows = (sample_data / "squad2" / "questions.jsonl").read_text("utf-8").splitlines()
    asked = [json.loads(row)["question"] for row in rows]
    assert sum(map(follows_up, asked)) / len(asked) < 0.02


@given(st.text(alphabet="and whoitsfae,.?! ") | st.text())
def test_it_never_raises(question):
    assert follows_up(question) in (True, False)
