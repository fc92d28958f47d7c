"""XML as a stream of events: no tree, no recursion, no entities, so that neither depth nor repetition costs more
than its bytes."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Protocol
from xml.parsers import expat

_MATH = (
    "http://schemas.openxmlformats.org/officeDocument/2006/math",
    "http://purl.oclc.org/ooxml/officeDocument/math",
)
_RELATIONS = (
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
    "http://purl.oclc.org/ooxml/officeDocument/relationships",
)


class TooMuch(ValueError):
    """A file asks for more than anybody writes: nesting, repetition."""


class Reader(Protocol):
    """Takes the events of an XML file. Names are local, but for Office mathematics (`m:`) and relations (`r:`)."""

    def start(self, name: str, attributes: Mapping[str, str]) -> None: ...
    def end(self, name: str) -> None: ...
    def characters(self, text: str) -> None: ...


def read_xml(data: bytes, reader: Reader) -> None:
    """Hand the events of an XML file to `reader`. Raises expat.ExpatError for bad XML and for a DOCTYPE."""
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _refuse_doctype
    parser.StartElementHandler = lambda name, attributes: reader.start(
        _local(name), {_local(key): value for key, value in attributes.items()}
    )
    parser.EndElementHandler = lambda name: reader.end(_local(name))
    parser.CharacterDataHandler = reader.characters
    parser.Parse(data, True)


def _refuse_doctype(*_: object) -> None:
    raise expat.ExpatError("a document type has no place in this file")


@lru_cache(maxsize=4096)
def _local(name: str) -> str:
    space, _, local = name.rpartition(" ")
    if space in _RELATIONS:
        return f"r:{local}"
    return f"m:{local}" if space in _MATH else local
