"""`equipoise mcp`: the documents as tools for programs that speak MCP, over stdio or on this machine over HTTP."""

import asyncio
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.apps.docs import indexed
from equipoise.apps.listening import bound
from equipoise.apps.options import PathOption, group
from equipoise.apps.terminal import tell
from equipoise.core.errors import MissingExtra
from equipoise.rag.library import Library

if TYPE_CHECKING:
    from mcp.server import Server

app = group()
HOST = "127.0.0.1"


@app.command()
def mcp(
    store: Annotated[Path | None, PathOption("--store", help="The index file.")] = None,
    docs: Annotated[
        list[Path] | None, PathOption("--docs", help="Serve these files or folders only.")
    ] = None,
    http: Annotated[
        bool, typer.Option("--http", help="Serve over HTTP, to this machine only, not over stdio.")
    ] = False,
    port: Annotated[
        int, typer.Option(min=0, max=65_535, help="The port, with --http; 0: any free one.")
    ] = 8080,
    llm: Annotated[str | None, typer.Option("--llm", help="As for `ask`.")] = None,
    encoder: Annotated[str | None, typer.Option(help="As for `ask`.")] = None,
) -> None:
    """Serve the documents to programs that speak MCP.

    A program starts this command and talks to it over stdio. For other machines, and for keys and limits, use
    `equipoise serve`, which answers MCP at /mcp.
    """
    if find_spec("mcp") is None:
        raise MissingExtra("MCP", "mcp")
    from equipoise.integrations.mcp import serve_stdio, server  # noqa: PLC0415 - only this command needs it

    chosen = indexed({"store.path": store, "model.llm": llm, "retrieval.encoder": encoder}, docs)
    with Library.open(chosen.store.path, settings=chosen) as library:
        if http:
            _serve_http(server(library), port)
        else:
            asyncio.run(serve_stdio(server(library)))


def _serve_http(served: "Server[Any]", port: int) -> None:
    """Serve at /mcp of this machine until a signal comes; requests for other host names are refused."""
    import uvicorn  # noqa: PLC0415 - comes with the extra

    from equipoise.integrations.mcp_http import WellFormed  # noqa: PLC0415 - as above

    application = WellFormed(served.streamable_http_app(stateless_http=True, host=HOST))
    with bound(HOST, port) as listening:
        listening.listen()  # so that whoever reads the address can connect
        tell(f"serving MCP at http://{HOST}:{listening.getsockname()[1]}/mcp")
        config = uvicorn.Config(application, log_config=None, access_log=False, server_header=False)
        uvicorn.Server(config).run(sockets=[listening])
