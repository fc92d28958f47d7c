"""What `index` takes from a folder and what it leaves: links, odd files and paths, trust of folders in folders."""

import json
import os
import socket
from pathlib import Path

import pytest

from equipoise.apps.indexed import tell
from equipoise.core.errors import CorpusError, InputError, ModelUnavailable, StoreError
from equipoise.core.types import Document, Trust
from equipoise.corpus import files, indexing, naming
from equipoise.corpus.indexing import index, prepare
from equipoise.corpus.places import Places
from equipoise.corpus.record_types import FileRecord
from equipoise.corpus.roots import Gone
from equipoise.corpus.store import Store
from equipoise.rag import updating
from hashed_words import HashedWords


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder anybody may write to and one of the owner's."""
    monkeypatch.chdir(tmp_path)
    write("forum/post.md", "A post.")
    write("private/plan.md", "The plan.")
    return tmp_path


def write(path, text):
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text)


@pytest.fixture
def store(here):
    with Store.open(here / "s.db", create=True) as opened:
        yield opened


def trusts(store):
    return {Path(key).name: record.trust.value for key, record in store.files().items()}


def indexed(store):
    return sorted(store.files())


def indexing_of(store, *paths, **how):
    return index(list(paths), store, HashedWords(), **how)


class TestLinks:
    def test_a_link_out_of_the_folder_is_named_and_not_followed(self, store, here):
        Path("forum/folder").symlink_to("../private")
        Path("forum/file.md").symlink_to("../private/plan.md")
        report = indexing_of(store, "forum")
        assert indexed(store) == ["forum/post.md"]
        assert [left.path for left in report.left_out] == ["forum/file.md", "forum/folder"]
        reason = f"the link leads out of the folder, to {here}/private; give that path to index it"
        assert report.left_out[1].reason == reason
        assert report.failed == ()

    def test_a_link_to_a_folder_beside_with_a_longer_name_leads_out_too(self, store, here):
        write("forum-private/plan.md", "Plan.")
        Path("forum/x").symlink_to("../forum-private")
        assert len(indexing_of(store, "forum").left_out) == 1

    def test_links_inside_are_followed_once(self, store, here):
        write("forum/a/b.md", "B.")
        Path("forum/c").symlink_to("a")
        Path("forum/a/up").symlink_to("..")
        report = indexing_of(store, "forum")
        assert indexed(store) == ["forum/a/b.md", "forum/post.md"]
        assert report.left_out == ()

    def test_a_given_path_may_be_a_link(self, store, here):
        Path("door").symlink_to("private")
        Path("note.md").symlink_to("forum/post.md")
        indexing_of(store, "door", "note.md")
        assert indexed(store) == ["forum/post.md", "private/plan.md"]

    def test_a_loop_and_a_link_to_nowhere_are_named(self, store, here):
        Path("forum/loop.md").symlink_to("loop.md")
        Path("forum/gone.md").symlink_to("/nowhere/gone.md")
        Path("spin").symlink_to("spin")
        report = indexing_of(store, "forum", "spin")
        assert [str(left) for left in report.left_out] == [
            "forum/gone.md: the link leads nowhere",
            "forum/loop.md: the link leads nowhere",
        ]
        assert "Too many levels of symbolic links" in report.failed[0].reason

    def test_pruning_drops_what_an_older_version_had_reached_by_a_link(self, store, here):
        indexing_of(store, "private", "forum")
        places = Places(here)
        for record in store.files().values():
            store.update_file(FileRecord(record.path, "0", 1, 1, Trust.UNTRUSTED, places.key(here / "forum")))
        assert indexing_of(store, "forum", gone=Gone.DROP).removed == 1
        assert indexed(store) == ["forum/post.md"]

    def test_pruning_leaves_what_was_not_asked_for(self, store, here):
        indexing_of(store, "private", "forum")
        Path("private/plan.md").unlink()
        Path("forum/post.md").unlink()
        write("forum/new.md", "New.")
        report = indexing_of(store, "forum", gone=Gone.DROP)
        assert report.removed == 1
        assert indexed(store) == ["forum/new.md", "private/plan.md"]

    def test_a_file_replaced_by_a_link_after_the_walk_is_not_followed(self, here):
        Path("forum/post.md").unlink()
        Path("forum/post.md").symlink_to(here / "private" / "plan.md")
        with pytest.raises(CorpusError, match="symbolic links"):
            files.read(here / "forum" / "post.md")


class TestTrust:
    def test_a_wider_run_leaves_a_folder_its_trust_and_says_so(self, store):
        indexing_of(store, "forum", trust=Trust.UNTRUSTED)
        indexing_of(store, "private")
        write("forum/new.md", "A new post.")
        report = indexing_of(store, ".")
        assert trusts(store) == {"post.md": "untrusted", "new.md": "untrusted", "plan.md": "trusted"}
        assert [str(left) for left in report.left_out] == [
            "forum: 2 files stay untrusted, as this path was indexed; name it and its trust to change that"
        ]
        report = indexing_of(store, ".", trust=Trust.UNTRUSTED)
        assert trusts(store)["plan.md"] == "trusted"
        assert [left.path for left in report.left_out] == ["private"]

    def test_who_names_the_folder_or_something_in_it_changes_its_trust(self, store):
        write("private/more/a.md", "A.")
        indexing_of(store, "private")
        indexing_of(store, "private/more", trust=Trust.UNTRUSTED)
        assert trusts(store) == {"plan.md": "trusted", "a.md": "untrusted"}
        indexing_of(store, "private")
        assert trusts(store)["a.md"] == "untrusted"
        again = indexing_of(store, "private", "private/more")
        assert (again.relabelled, [left.path for left in again.left_out]) == (0, ["private/more"])
        assert indexing_of(store, "private", "private/more", trust=Trust.TRUSTED).relabelled == 1
        assert set(trusts(store).values()) == {"trusted"}

    def test_a_folder_indexed_again_without_its_trust_keeps_it_with_what_is_new_in_it(self, store):
        indexing_of(store, "forum", trust=Trust.UNTRUSTED)
        write("forum/new.md", "A new post.")
        report = indexing_of(store, "forum")
        assert (report.added, report.relabelled) == (1, 0)
        assert trusts(store) == {"post.md": "untrusted", "new.md": "untrusted"}
        assert [left.path for left in report.left_out] == ["forum"]
        assert indexing_of(store, "forum", trust=Trust.TRUSTED).relabelled == 2

    def test_naming_a_part_with_the_same_trust_decides_nothing(self, store):
        indexing_of(store, "private")
        indexing_of(store, "private/plan.md")
        assert indexing_of(store, "private", trust=Trust.UNTRUSTED).relabelled == 1


class TestOddPaths:
    def test_an_empty_path_is_refused(self, store):
        for paths in ("", ["forum", ""]):
            with pytest.raises(InputError, match="an empty path was given"):
                index(paths, store, HashedWords())
        assert indexed(store) == []

    @pytest.mark.parametrize(
        ("path", "reason"),
        [
            ("a\0b", "a path cannot hold a zero character"),
            ("x" * 5_000, "File name too long"),
            ("forum/" * 2_000, "File name too long"),
            ("nowhere", "there is no such file or folder"),
            ("forum/post.md/below", "there is no such file or folder"),
            ("/dev/zero", "this file type cannot be read"),
            ("zero.txt", "this file type cannot be read"),
            ("pipe.txt", "this is not a regular file"),
            ("socket.txt", "the file cannot be read (No such device or address)"),
        ],
    )
    def test_a_path_that_cannot_be_read_is_named_and_the_rest_goes_on(self, store, path, reason):
        Path("zero.txt").symlink_to("/dev/zero")
        os.mkfifo("pipe.txt")
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("socket.txt")
            report = indexing_of(store, path, "forum")
        assert (report.added, len(report.failed)) == (1, 1)
        assert reason in report.failed[0].reason

    def test_what_is_no_file_in_a_folder_is_named(self, store):
        os.mkfifo("forum/pipe.txt")
        Path("forum/zero.txt").symlink_to("/dev/zero")
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("forum/socket.txt")
            report = indexing_of(store, "forum")
        assert {left.path: left.reason for left in report.left_out} == {
            "forum/pipe.txt": "this is not a regular file",
            "forum/socket.txt": "this is not a regular file",
            "forum/zero.txt": "the link leads out of the folder, to /dev/zero; give that path to index it",
        }

    def test_a_deleted_current_folder(self, here, store, monkeypatch):
        Path("gone").mkdir()
        monkeypatch.chdir("gone")
        Path("../gone").rmdir()
        report = indexing_of(store, str(here / "forum"), "x.md")
        assert [error.reason for error in report.failed] == [
            "the current folder is gone; change to another one, or give a whole path"
        ]
        assert store.document(store.doc_ids()[0]).source == (here / "forum" / "post.md").as_posix()
        with pytest.raises(StoreError, match="the current folder is gone"):
            Store.open(Path("s.db"), create=True)
        monkeypatch.setenv("XDG_CACHE_HOME", str(here / "cache"))
        assert updating.private_index([Path("x.md")]).parent.is_dir()

    def test_the_private_index_of_odd_paths(self, here, monkeypatch):
        monkeypatch.setenv("XDG_CACHE_HOME", str(here / "cache"))
        Path("spin").symlink_to("spin")
        odd = ["a\0b", "spin", os.fsdecode(b"\xff.md"), "x" * 5_000]
        assert len({updating.private_index([Path(path)]) for path in odd}) == len(odd)
        write("file", "in the way")
        monkeypatch.setenv("XDG_CACHE_HOME", str(here / "file"))
        with pytest.raises(StoreError, match="set XDG_CACHE_HOME"):
            updating.private_index([Path("forum")])

    def test_a_folder_that_vanishes_during_the_walk(self, store, monkeypatch):
        write("forum/sub/a.md", "A.")
        sort_out = files._sort_out

        def vanishing(entries, *others):
            folders = sort_out(entries, *others)
            for folder in folders:
                (folder / "a.md").unlink()
                folder.rmdir()
            return folders

        monkeypatch.setattr(files, "_sort_out", vanishing)
        report = indexing_of(store, "forum")
        assert [error.path for error in report.failed] == ["forum/sub"]
        assert report.added == 1

    def test_a_file_that_vanishes_after_the_walk(self, store, monkeypatch):
        find = indexing.find_files

        def losing(paths):
            walk = find(paths)
            Path("forum/post.md").unlink()
            return walk

        write("forum/stays.md", "Stays.")
        monkeypatch.setattr(indexing, "find_files", losing)
        report = indexing_of(store, "forum")
        assert [error.path for error in report.failed] == ["forum/post.md"]
        assert report.added == 1

    def test_no_more_is_read_than_may_be_however_a_file_grows(self, here, monkeypatch):
        file = here / "grows.txt"
        file.write_bytes(b"x" * 10)
        assert files.read(file, most=10).data == b"x" * 10
        with pytest.raises(CorpusError, match="larger than 9 bytes"):
            files.read(file, most=9)
        looked_at = os.fstat

        def growing(number):
            status = looked_at(number)
            file.write_bytes(b"x" * 100)
            return status

        monkeypatch.setattr(os, "fstat", growing)
        with pytest.raises(CorpusError, match="larger than 20 bytes"):
            files.read(file, most=20)


class TestOneFile:
    def test_an_id_that_is_taken_is_that_files_failure(self, store):
        taken = Document(naming.document_id("forum/post.md"), "Planted.", "elsewhere")
        store.bind_encoder(HashedWords())
        store.add_documents(prepare([taken], HashedWords()))
        report = indexing_of(store, "forum", "private")
        assert report.added == 1
        assert "is in the store already" in report.failed[0].reason

    def test_an_encoder_that_stumbles_over_one_text(self, store):
        class Stumbling(HashedWords):
            def encode(self, texts):
                if any("plan" in text for text in texts):
                    raise ValueError("cannot tokenize")
                return super().encode(texts)

        report = index(["forum", "private"], store, Stumbling())
        assert report.added == 1
        assert [(e.path, e.reason) for e in report.failed] == [
            (
                "private/plan.md",
                "the encoder hashed-words failed on its text (ValueError: cannot tokenize); leave it out",
            )
        ]

    def test_vectors_that_are_not_of_length_1_are_that_files_failure(self, store):
        class Long(HashedWords):
            def encode(self, texts):
                return super().encode(texts) * (2 if any("plan" in text for text in texts) else 1)

        report = index(["forum", "private"], store, Long())
        assert report.added == 1
        assert "length 1 are wanted" in report.failed[0].reason

    def test_an_encoder_that_is_not_there_ends_the_run(self, store):
        class Away(HashedWords):
            def encode(self, texts):
                raise ModelUnavailable("no endpoint")

        with pytest.raises(ModelUnavailable):
            index("forum", store, Away())

    def test_an_error_of_the_callers_progress_is_the_callers(self, store):
        def stop(step):
            raise KeyError("stop")

        with pytest.raises(KeyError):
            indexing_of(store, "forum", progress=stop)

    @pytest.mark.parametrize("title", ["x" * 100_000, "Fees\n- quote 9", "a\x1b[2J\u202eb"])
    def test_a_title_is_one_clean_line_before_anything_uses_it(self, store, title):
        write("forum/rows.jsonl", json.dumps({"_id": "a", "text": "Rows.", "title": title}))
        indexing_of(store, "forum/rows.jsonl")
        store.add_documents(prepare([Document("b", "Rows.", "b", title)], HashedWords()))
        titles = {store.document(doc_id).title for doc_id in store.doc_ids()}
        assert len(titles) == 1
        [clean] = titles
        assert len(clean) <= 200
        assert clean.isprintable()
        assert (
            store.partition(Trust.TRUSTED).matrix()[1][0].tolist()
            == HashedWords().encode([f"{clean}\nRows."])[0].tolist()
        )
        with pytest.raises(CorpusError, match="not one clean line"):
            [entry] = prepare([Document("c", "Rows.", "c")], HashedWords())
            object.__setattr__(entry.document, "title", title)
            store.add_documents([entry])


def test_text_that_nobody_sees_is_counted_by_source(store, monkeypatch, capsys):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, Path(__file__).parents[:2])))
    monkeypatch.setattr("equipoise.corpus.workers.MODULE", "hiding_worker")
    report = indexing_of(store, "forum", "private")
    assert report.hidden == (("forum/post.md", 7),)
    assert report.invisible == (("forum/post.md", 2), ("private/plan.md", 2))
    assert report.running == (("forum/post.md", 3), ("private/plan.md", 3))
    tell(report, ())
    assert (
        "running headers and footers left out: forum/post.md and 1 more: 6 lines\n" in capsys.readouterr().err
    )


def test_the_command_line_says_what_was_left_out(run, tmp_path):
    write(tmp_path / "forum" / "post.md", "A post.")
    write(tmp_path / "private" / "plan.md", "The plan.")
    (tmp_path / "forum" / "x").symlink_to("../private")
    code, out, err = run("index", "forum")
    assert code == 0
    assert "1 added" in out
    assert err.startswith("left out: forum/x: the link leads out of the folder, to ")
