"""XML as a tree with local names and without entities. Recursive code that walks a tree raises RecursionError
if it is nested too deep; `loaders.load` turns that into UnreadableFile."""

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from xml.etree.ElementTree import Element, TreeBuilder, XMLParser

_PREFIXES = {
    f"{root}/{space}": prefix
    for root in (
        "http://schemas.openxmlformats.org/officeDocument/2006",
        "http://purl.oclc.org/ooxml/officeDocument",
    )
    for space, prefix in (("math", "m:"), ("relationships", "r:"))
}


class _Builder(TreeBuilder):
    """Makes the tree. A DOCTYPE is refused: what it can declare has no place in a document."""

    def doctype(self, *_: object) -> None:
        raise ValueError("a document type has no place in this file")


class _Taking(_Builder):
    """Hands over the elements of one name as they end, and empties them."""

    def __init__(self, name: str, take: Callable[[Element], None]) -> None:
        super().__init__()
        self._name, self._take = name, take

    def end(self, tag: str) -> Element:
        element = super().end(tag)
        if _local(tag) == self._name:
            self._take(_localised(element))
            element.clear()
        return element


def read_xml(
    data: bytes,
    each: str = "",
    take: Callable[[Element], None] | None = None,
    *,
    entities: Mapping[str, str] | None = None,
) -> Element:
    """The root of an XML file. Names are local, but for Office mathematics (`m:`) and relations (`r:`).

    Elements called `each` are handed to `take` as they end and emptied: a sheet has millions of rows. Raises ParseError
    for bad XML, ValueError for a DOCTYPE, unless `entities` are given, which count besides those of the file.
    """
    target = _Taking(each, take) if take else _Builder() if entities is None else TreeBuilder()
    parser = XMLParser(target=target)
    parser.entity.update(entities or {})
    parser.feed(data)
    return _localised(parser.close())


def _localised(root: Element) -> Element:
    for node in root.iter():
        node.tag = _local(node.tag)
        if attributes := node.attrib:
            node.attrib = {_local(key): value for key, value in attributes.items()}
    return root


def outermost(node: Element, *names: str) -> Iterator[Element]:
    """The elements of these names below `node`, in order, that are not inside another of them."""
    for child in node:
        if child.tag in names:
            yield child
        else:
            yield from outermost(child, *names)


def is_on(node: Element, name: str) -> bool:
    """Whether an attribute is a switch that is on."""
    return node.get(name) in {"1", "true", "on"}


@lru_cache(maxsize=4096)
def _local(name: str) -> str:
    space, _, local = name.rpartition("}")
    return _PREFIXES.get(space[1:], "") + local
