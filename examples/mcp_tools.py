"""The tools that an MCP client sees, called by the official client in the same process. It needs no language model.

pip install 'equipoise[mcp]'
python examples/mcp_tools.py
"""

import asyncio
import tempfile
from pathlib import Path

from mcp import Client

from equipoise import Library
from equipoise.integrations.mcp import server

FAQ = Path(__file__).parent / "sqlite" / "faq.md"


async def main(library: Library) -> None:
    async with Client(server(library)) as client:
        print("tools:", *(tool.name for tool in (await client.list_tools()).tools))
        question = "Is SQLite threadsafe?"
        answer = (await client.call_tool("ask", {"question": question})).structured_content
        quote = answer["quotes"][0]
        print(question, "->", quote["text"])
        place = {name: quote[name] for name in ("doc_id", "start", "end")}
        around = (await client.call_tool("read", place | {"around": 80})).structured_content
        print("in its place:", around["before"], "[", around["text"], "]", around["after"])
        refused = await client.call_tool("ask", {"question": "How much is the metro in Paris?"})
        print("refused:", refused.structured_content["detail"])


with tempfile.TemporaryDirectory() as folder, Library.create(Path(folder) / "index.db", chat=None) as library:
    library.index(FAQ)
    asyncio.run(main(library))
