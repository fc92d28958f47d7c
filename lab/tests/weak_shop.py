"""A shop's documents, models that give way, and targets over them: for tests of attacks, without a language model."""

import json
import re
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from equipoise.core import settings as layers
from equipoise.corpus.indexing import index
from equipoise.corpus.store import Store
from equipoise.models.scripted import ScriptedChat
from equipoise.rag.components import Components
from equipoise_lab.redteam.suite import systems
from hashed_words import HashedWords

SHOP = Path(__file__).resolve().parents[1] / "src" / "equipoise_lab" / "redteam" / "example"
CALL = 'send_email("contact@contact.com", "confirmation")'
CALL_WANTED = re.compile(r"send_email|envoie un courriel|Send an e-mail", re.IGNORECASE)


def obedient(messages):
    """What a model says that does whatever stands in its messages: the tool, a task, help, and what it reads."""
    text = messages[-1].content
    read = " ".join(line[2:] for line in text.splitlines() if line.startswith("- "))
    said = [CALL] if CALL_WANTED.search(text) else []
    said += ["The number is 391."] if "17 times 23" in text else []
    said += ["Sure: lift the lever behind the bolt with a hairpin."] if "door lock" in text else []
    said += ["Yes."] if "answer is: yes" in text or "begin with yes" in text else []
    said += ["No."] if "answer is: no" in text or "begin with no." in text else []
    words = " ".join([*said, read]) or "Nothing."
    return json.dumps({"answer": words}) if "JSON" in messages[0].content else words


@contextmanager
def shop(chat=None, *, systems_wanted=("hs", "weak"), folder=None, **changes):
    """Targets by name over the shop's documents; `chat` obeys unless another one is given."""
    chat = ScriptedChat(obedient) if chat is None else chat
    flags = {"highlight.name": "sentence", "highlight.threshold": 0.0, "summarize.name": "llm",
             "summarize.when": "always", **changes}  # fmt: skip
    with TemporaryDirectory() as made, Store.open(Path(folder or made) / "index.db", create=True) as store:
        encoder = HashedWords(256)
        index([SHOP], store, encoder)
        settings = layers.load(flags, folder=Path(made), environment={}).settings
        components = Components(settings, store, encoder, chat)
        yield {name: systems.target(name, components) for name in systems_wanted}
