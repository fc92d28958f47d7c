"""The proof for a Haystack pipeline: all that reaches a component comes out of a boundary.

A pipeline is read as a graph of sockets. A component leads from each of its inputs to each of its outputs, whatever it
does inside; a SuperComponent is opened, and leads where its inner pipeline leads.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from equipoise.core.errors import InputError, MissingExtra

try:
    import networkx as nx
    from haystack import Pipeline
except ImportError:
    raise MissingExtra("haystack-ai", "haystack") from None

Side = Literal["in", "out"]
Socket = tuple[str, Side, str]
"""(component, side, name)."""


@dataclass(slots=True)
class Opened:
    """The sockets of a pipeline and of all within it. `nx` has no types: `graph` is a DiGraph of Socket."""

    graph: Any = field(default_factory=nx.DiGraph)
    instances: dict[str, Any] = field(default_factory=dict)
    types: dict[Socket, object] = field(default_factory=dict)
    supers: set[str] = field(default_factory=set)


def assert_no_path(pipeline: Pipeline, target: str, *, boundary: type, carries: type) -> None:
    """Raises AssertionError unless all that reaches `target` is of type `carries` and out of a component of exactly the
    type `boundary`; InputError where there is no such component."""
    opened = Opened()
    _open(pipeline, "", opened)
    if target not in opened.instances:
        raise InputError(
            f"the pipeline has no component {target!r}: name one of {', '.join(opened.instances)}"
        )
    if target in opened.supers:
        inner = ", ".join(name for name in opened.instances if name.startswith(f"{target}."))
        raise InputError(f"{target!r} is a SuperComponent: name one of the components within it: {inner}")
    free: list[Socket] = [
        (name, "in", socket) for name, sockets in pipeline.inputs().items() for socket in sockets
    ]
    _no_socket_for_callers(opened, target, free)
    _nothing_beside(opened, target, boundary, free)
    _only(opened, target, carries)


def before(pipeline: Pipeline, target: str) -> dict[str, Any]:
    """The components from which a path leads to `target`, by name."""
    opened = Opened()
    _open(pipeline, "", opened)
    above = {node[0] for into in _inputs(opened, target) for node in nx.ancestors(opened.graph, into)}
    return {name: instance for name, instance in opened.instances.items() if name in above}


def _open(pipeline: Pipeline, prefix: str, opened: Opened) -> None:
    for name, data in pipeline.graph.nodes(data=True):
        full, instance = f"{prefix}{name}", data["instance"]
        opened.instances[full] = instance
        ins = [(full, "in", socket) for socket in data["input_sockets"]]
        outs = [(full, "out", socket) for socket in data["output_sockets"]]
        opened.graph.add_nodes_from([*ins, *outs])
        for socket, described in data["output_sockets"].items():
            opened.types[full, "out", socket] = described.type
        if isinstance(getattr(instance, "pipeline", None), Pipeline) and hasattr(instance, "input_mapping"):
            opened.supers.add(full)
            _open(instance.pipeline, f"{full}.", opened)
            _join(instance, full, opened)
        else:
            opened.graph.add_edges_from((inlet, outlet) for inlet in ins for outlet in outs)
    for sender, receiver, edge in pipeline.graph.edges(data=True):
        opened.graph.add_edge(
            (f"{prefix}{sender}", "out", edge["from_socket"].name),
            (f"{prefix}{receiver}", "in", edge["to_socket"].name),
        )


def _join(instance: Any, full: str, opened: Opened) -> None:  # noqa: ANN401
    """Edges between the sockets of a SuperComponent and those of its inner pipeline."""
    for outer, paths in instance.input_mapping.items():
        for name, socket in (path.split(".", 1) for path in paths):
            opened.graph.add_edge((full, "in", outer), (f"{full}.{name}", "in", socket))
    for path, outer in instance.output_mapping.items():
        name, socket = path.split(".", 1)
        opened.graph.add_edge((f"{full}.{name}", "out", socket), (full, "out", outer))


def _no_socket_for_callers(opened: Opened, target: str, free: list[Socket]) -> None:
    for name, side, socket in free:
        if name == target:
            raise AssertionError(
                f"{target} takes {socket!r} from the caller of run(): let it have no such socket"
            )
        for into in _through(opened, (name, side, socket)):
            if into[0] == target:
                raise AssertionError(f"{target} takes {into[2]!r} from the caller, as {socket!r} of {name}")


def _through(opened: Opened, socket: Socket) -> Iterator[Socket]:
    """The inner inputs that an input of a SuperComponent is handed on to, however deep."""
    if socket[0] in opened.supers:
        for inner in opened.graph.successors(socket):
            yield inner
            yield from _through(opened, inner)


def _nothing_beside(opened: Opened, target: str, boundary: type, free: list[Socket]) -> None:
    walls = {name for name, instance in opened.instances.items() if type(instance) is boundary}
    if target in walls:
        raise InputError(f"{target!r} is a boundary itself: name the component behind it")
    beside = opened.graph.subgraph([node for node in opened.graph if node[0] not in walls])
    for into in _inputs(opened, target):
        above = nx.ancestors(beside, into)
        for socket in free:
            if socket in above:
                path = nx.shortest_path(beside, socket, into)
                way = " -> ".join(f"{name}.{socket}" for name, _, socket in path)
                raise AssertionError(f"what a caller fills reaches {target} beside the boundary: {way}")
        for node in above:
            if node[1] == "out" and not any(True for _ in opened.graph.predecessors(node)):
                raise AssertionError(
                    f"{node[0]}, which is no boundary, feeds {target} with something of its own"
                )


def _only(opened: Opened, target: str, carries: type) -> None:
    for into in _inputs(opened, target):
        for sender in _senders(opened, into):
            if opened.types.get(sender) is not carries:
                raise AssertionError(
                    f"{sender[0]}.{sender[2]} hands {opened.types.get(sender)} to {target}.{into[2]}: "
                    f"only {carries.__name__} may reach it"
                )


def _senders(opened: Opened, into: Socket) -> Iterator[Socket]:
    """The outputs that are connected to an input, through the inputs of SuperComponents around it."""
    for node in opened.graph.predecessors(into):
        if node[1] == "out":
            yield node
        else:
            yield from _senders(opened, node)


def _inputs(opened: Opened, target: str) -> list[Socket]:
    return [node for node in opened.graph if node[0] == target and node[1] == "in"]
