"""The graph file of the MCP memory server: every dialect is read, and what is written any server can take."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from stores.formats.orchestkit import Edge, Graph, graph_bytes, merge_graph, missing_from, new_file, parse_graph
from stores.formats.orchestkit.graph_file import LINES, OBJECT
from tests.formats.reading import lines_of

REDIS = {"type": "entity", "name": "redis", "entityType": "Technology", "observations": ["fast"]}
GO = {"type": "entity", "name": "go", "entityType": "Language", "observations": []}
USES = {"type": "relation", "from": "go", "to": "redis", "relationType": "USES"}


def graph(nodes: dict[str, list[str]], *edges: tuple[str, str, str], kind: str = "Technology") -> Graph:
    made = Graph()
    for name, observations in nodes.items():
        made.put(name, kind, observations)
    for edge in edges:
        made.connect(Edge(*edge))
    return made


def test_a_file_that_a_server_saved_is_written_again_with_a_line_break_at_its_end() -> None:
    data = lines_of([REDIS, GO, USES])
    found = parse_graph(data.rstrip(b"\n"))
    assert (found.dialect, found.left_out, found.others) == (LINES, [], [])
    assert graph_bytes(found) == data


def test_relations_move_behind_entities() -> None:
    assert graph_bytes(parse_graph(lines_of([USES, GO, REDIS]))) == lines_of([GO, REDIS, USES])


def test_an_empty_or_missing_file_is_an_empty_graph() -> None:
    for data in (b"", b"\n \r\n"):
        assert graph_bytes(parse_graph(data)) == b""


def test_one_pretty_object_is_read() -> None:
    data = json.dumps(
        {
            "entities": [{"name": "redis", "entityType": "Technology", "observations": ["fast"]}, {"name": "go", "type": "Language"}],
            "relations": [{"from": "go", "to": "redis", "type": "USES"}, {"from": "go"}],
            "version": 2,
        },
        indent=2,
    ).encode()
    for text in (data, json.dumps(json.loads(data)).encode() + b"\n"):
        found = parse_graph(text)
        assert found.dialect == OBJECT
        assert graph_bytes(found) == lines_of([REDIS, GO, USES])
        assert [(piece.line, piece.data) for piece in found.left_out] == [(1, b'{"from":"go"}'), (1, b'{"version":2}')]


def test_observations_with_times_become_texts() -> None:
    found = parse_graph(lines_of([REDIS | {"observations": [{"text": "fast", "timestamp": "2026"}, "small"]}]))
    assert list(found.graph.nodes["redis"].observations) == ["fast", "small"]
    assert found.timed_observations == 1


def test_lines_that_stop_the_server_are_kept_aside_with_number_and_bytes() -> None:
    nameless = lines_of([{"type": "entity", "entityType": "x"}]).rstrip()
    data = lines_of([REDIS]) + b"{torn \xff\nnull\n" + nameless + b"\n" + lines_of([GO])
    found = parse_graph(data)
    assert [(piece.line, piece.data) for piece in found.left_out] == [(2, b"{torn \xff"), (3, b"null"), (4, nameless)]
    assert graph_bytes(found) == lines_of([REDIS, GO])


def test_lines_of_other_types_and_unknown_keys_are_written_again() -> None:
    extra = REDIS | {"color": "red", "tags": [1]}
    edge = USES | {"weight": 2}
    data = lines_of([extra, GO, edge]) + b'{"type":"note", "x": 1}\n42\n[]\n'
    assert graph_bytes(parse_graph(data)) == data


def test_a_byte_order_mark_and_carriage_returns_are_not_written_again() -> None:
    data = lines_of([REDIS, USES])
    assert graph_bytes(parse_graph(b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n"))) == data


def test_entities_of_one_name_become_one() -> None:
    again = REDIS | {"entityType": "Tool", "observations": ["small", "fast"]}
    assert graph_bytes(parse_graph(lines_of([REDIS, again, USES, USES, GO]))) == lines_of(
        [REDIS | {"observations": ["fast", "small"]}, GO, USES]
    )


def test_what_a_strict_server_wants_is_added() -> None:
    found = parse_graph(lines_of([{"type": "entity", "name": "pytest"}]))
    assert graph_bytes(found) == lines_of([{"type": "entity", "name": "pytest", "entityType": "Tool", "observations": []}])


def test_a_merge_keeps_what_is_there_and_adds_the_rest() -> None:
    found = parse_graph(lines_of([REDIS, GO, USES]))
    merged = merge_graph(
        found, graph({"redis": ["small", "fast"], "d": ["What: x"]}, ("d", "redis", "CHOSE"), ("go", "redis", "USES"), kind="Tool")
    )
    assert merged.entities == ("d",)
    assert merged.relations == (Edge("d", "redis", "CHOSE"),)
    assert merged.observations == 2
    assert graph_bytes(found) == lines_of(
        [
            REDIS | {"observations": ["fast", "small"]},
            GO,
            {"type": "entity", "name": "d", "entityType": "Tool", "observations": ["What: x"]},
            USES,
            {"type": "relation", "from": "d", "to": "redis", "relationType": "CHOSE"},
        ]
    )


def test_half_surrogates_and_odd_characters_survive() -> None:
    data = new_file(graph({"a\ud83d": ["\u2028 ü \u0000"]}))
    assert data == b'{"type":"entity","name":"a\\ud83d","entityType":"Technology","observations":["\xe2\x80\xa8 \xc3\xbc \\u0000"]}\n'
    assert list(parse_graph(data).graph.nodes) == ["a\ud83d"]


def test_what_a_write_lost_is_named() -> None:
    wanted = graph({"redis": ["fast", "small"], "d": ["x"]}, ("d", "redis", "CHOSE"), ("go", "redis", "USES"))
    missing = missing_from(parse_graph(lines_of([REDIS, USES])), wanted)
    assert missing.entities == ("d", "go")
    assert missing.observations == (("redis", "small"),)
    assert missing.relations == (Edge("d", "redis", "CHOSE"),)
    assert missing
    assert not missing_from(parse_graph(new_file(wanted)), wanted)


names = st.text(min_size=1, max_size=4) | st.sampled_from(["redis", "go", "d"])
graphs = st.builds(
    lambda nodes, edges: graph(nodes, *edges),
    st.dictionaries(names, st.lists(st.text(max_size=6), max_size=3), max_size=4),
    st.lists(st.tuples(names, names, st.sampled_from(["CHOSE", "USES"])), max_size=4),
)
files = st.lists(
    st.sampled_from([*lines_of([REDIS, GO, USES]).splitlines(keepends=True), b"{torn\n", b"null\n", b"\n", b'{"type":"note"}\n', b"42\n"])
    | graphs.map(new_file)
).map(b"".join)


@given(files, graphs)
def test_a_merged_file_has_all_of_both_and_merging_again_changes_nothing(data: bytes, more: Graph) -> None:
    before = parse_graph(data)
    found = parse_graph(data)
    merge_graph(found, more)
    written = graph_bytes(found)
    again = parse_graph(written)
    assert not again.left_out
    assert not missing_from(again, more)
    assert not missing_from(again, Graph(before.graph.nodes))
    assert list(again.graph.edges)[: len(before.graph.edges)] == list(before.graph.edges)
    assert again.others == before.others
    merged = merge_graph(again, more)
    assert (merged.entities, merged.relations, merged.observations) == ((), (), 0)
    assert graph_bytes(again) == written


@given(files, graphs)
def test_what_is_written_suits_the_strictest_server(data: bytes, more: Graph) -> None:
    found = parse_graph(data)
    merge_graph(found, more)
    written = graph_bytes(found)
    assert written == b"" or written.endswith(b"\n")
    lines = [json.loads(line) for line in written.split(b"\n")[:-1]]
    types = [line.get("type") if isinstance(line, dict) else None for line in lines]
    entities = {line["name"] for line, kind in zip(lines, types, strict=True) if kind == "entity"}
    assert None not in lines
    assert types == [kind for wanted in (("entity",), ("relation",), ("note", None)) for kind in types if kind in wanted]
    assert all(edge.start in entities and edge.end in entities for edge in more.edges)
    assert all(isinstance(text, str) for line, kind in zip(lines, types, strict=True) if kind == "entity" for text in line["observations"])
