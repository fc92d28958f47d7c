"""`equipoise serve` and `equipoise keys`: a server over one index, and who may use it."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from equipoise.apps.docs import indexed, settings_of
from equipoise.apps.listening import bound
from equipoise.apps.narrowing import CollectionOption, WhereOption, meant
from equipoise.apps.options import PathOption, StoreOption, group
from equipoise.apps.server.book import Book, folder_of
from equipoise.apps.server.keys import Key, Keys, Scope, visitors
from equipoise.apps.terminal import Terminal, complain, one_line, print_json, tell
from equipoise.core.errors import InputError, MissingExtra
from equipoise.core.where import key_of

app = group()

DocsOption = Annotated[list[Path] | None, PathOption("--docs", help="Serve these files or folders only.")]


@app.command()
def serve(
    store: StoreOption = None,
    docs: DocsOption = None,
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="The port; 0: any free one.")] = 8080,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Processes; each loads the models.")] = 1,
    llm: Annotated[str | None, typer.Option("--llm", help="As for `ask`.")] = None,
    encoder: Annotated[str | None, typer.Option(help="As for `ask`.")] = None,
    public: Annotated[
        bool, typer.Option("--public", help="Let anybody ask without a key, within the `public` settings.")
    ] = False,
) -> None:
    """Answer questions over HTTP, by API and web page. Without keys: this machine only, or with --public anybody."""
    _need_extra()
    from equipoise.apps.server import run  # noqa: PLC0415 - only this command needs the extra

    flags = {
        "store.path": store,
        "model.llm": llm,
        "retrieval.encoder": encoder,
        "public.ask": public or None,
    }
    chosen = indexed(flags, docs)
    has_keys = run.check(chosen, host)
    if chosen.public.ask:
        limits = chosen.public
        each, every = (f"{n:,}" if n else "any number of" for n in (limits.questions, limits.all_questions))
        complain("public:", f"anybody may ask, {each} questions a day from an address, {every} in all")
    elif not has_keys:
        complain(
            "no keys:", "whoever is on this machine may ask and change documents (equipoise keys create)"
        )
    with bound(host, port) as listening:
        shown = f"[{host}]" if ":" in host else host
        tell(f"serving {chosen.store.path} at http://{shown}:{listening.getsockname()[1]}")
        run.run(chosen, listening, workers)


keys = group("Keys for a server, with rate limits and daily budgets: create, list, revoke.")


@keys.command("create")
def create(
    name: Annotated[str, typer.Argument(help="What the key is for; shown in lists.")],
    scope: Annotated[
        str, typer.Option(help="ask: ask questions; admin: everything, such as changing documents.")
    ] = "ask",
    rate: Annotated[int, typer.Option(min=0, help="Questions a minute; 0: no limit.")] = 60,
    questions: Annotated[int, typer.Option(min=0, help="Questions a day; 0: no limit.")] = 0,
    tokens: Annotated[int, typer.Option(min=0, help="Tokens a day; 0: no limit.")] = 0,
    where: WhereOption = None,
    collection: CollectionOption = None,
    store: StoreOption = None,
    docs: DocsOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Make a key. It is shown only this once."""
    if scope not in set(Scope):
        raise InputError(f"there is no scope {scope!r}: write {' or '.join(Scope)}")
    with _opened(store, docs) as opened:
        made, secret = opened.create(
            name, Scope(scope), rate=rate, questions=questions, tokens=tokens, where=meant(where, collection)
        )
    if as_json:
        print_json({"id": made.key_id, "key": secret})
    else:
        Terminal().print(secret)
        tell(f"key {made.key_id} ({one_line(name)}, {scope}): keep it, nobody can show it again")


@keys.command("list")
def listing(
    store: StoreOption = None,
    docs: DocsOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Every key, without its secret, and what it has spent today."""
    public = settings_of({"store.path": store}, docs).public
    with _opened(store, docs) as opened:
        spending = [(key, opened.spent(key)) for key in (*opened.all(), visitors(public))]
    if not public.ask and not any(spending[-1][1]):
        spending.pop()  # nobody ever asked without a key
    if as_json:
        print_json({"keys": [_as_dict(key, spent) for key, spent in spending]})
        return
    rows = [tuple(str(value) for value in _as_dict(key, spent).values()) for key, spent in spending]
    if rows:
        Terminal().table(tuple(_as_dict(*spending[0])), rows)
    else:
        Terminal().print("There are none: the server answers on this machine only.")


@keys.command("revoke")
def revoke(
    key_id: Annotated[str, typer.Argument(metavar="ID")], store: StoreOption = None, docs: DocsOption = None
) -> None:
    """Revoke a key; it stops working at once."""
    with _opened(store, docs) as opened:
        opened.revoke(key_id)
    Terminal().print(f"{key_id} is revoked")


app.add_typer(keys, name="keys")


@contextmanager
def _opened(store: Path | None, docs: list[Path] | None) -> Iterator[Keys]:
    with Book(folder_of(settings_of({"store.path": store}, docs).store.path)) as book:
        yield Keys(book)


def _as_dict(key: Key, spent: tuple[int, int]) -> dict[str, object]:
    return {
        "id": key.key_id,
        "name": key.name,
        "scope": key.scope.value,
        "rate": key.rate or "any",
        "questions": f"{spent[0]} of {key.questions or 'any'}",
        "tokens": f"{spent[1]} of {key.tokens or 'any'}",
        "sees": key_of(key.where) or "all",
        "created": key.created,
        "revoked": key.revoked,
    }


def _need_extra() -> None:
    for name in ("fastapi", "uvicorn", "prometheus_client"):
        if find_spec(name) is None:
            raise MissingExtra("the server", "serve")
