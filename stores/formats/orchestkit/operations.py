"""Makes the graph operations of a decision, as OrchestKit's writer did (docs/formats.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from stores.formats.js_values import UNDEFINED, JsTypeError, cut, text_of, to_number, whole_text
from stores.formats.orchestkit.values import mapping, truthy

CREATE_ENTITIES: Final = "create_entities"
CREATE_RELATIONS: Final = "create_relations"
ADD_OBSERVATIONS: Final = "add_observations"
_MAIN_TYPES: Final = {
    "decision": "Decision",
    "preference": "Preference",
    "problem-solution": "Solution",
    "pattern": "Pattern",
    "workflow": "Workflow",
}
_MAIN_RELATIONS: Final = {"decision": "CHOSE", "preference": "PREFERS"}
_SIGNS: Final = (
    (
        "Technology",
        ["postgres", "redis", "mongodb", "fastapi", "django", "react", "vue", "angular", "typescript", "python", "docker", "kubernetes"],
    ),
    ("Pattern", ["pagination", "pattern", "architecture", "cqrs", "saga", "circuit", "injection", "sourcing", "caching", "rag"]),
    ("Tool", ["grep", "read", "write", "bash", "git", "npm", "jest", "pytest"]),
)
"""Parts of names that tell an entity's type; the first group with a fitting one counts."""
_MENTION_UNITS: Final = 100


def build_operations(record: Mapping[str, object], timestamp: str | None = None) -> list[dict[str, Any]]:
    """Give the operations that the writer queued for a decision; their time is the decision's own unless one is given.

    Nothing is raised: where the writer would have stopped (no entities, entities that are objects, texts in the place of lists)
    what is there is taken.
    """
    content, metadata = mapping(record.get("content")), mapping(record.get("metadata"))
    own = record.get("id", UNDEFINED)
    kind = _text(record.get("type", UNDEFINED))
    what = _text(content.get("what", UNDEFINED))
    at = metadata.get("timestamp", UNDEFINED) if timestamp is None else timestamp
    mention = f"Mentioned in {kind}: {cut(what, _MENTION_UNITS)}"
    main = _present({"name": own, "entityType": _MAIN_TYPES.get(kind, "Decision"), "observations": _observations(what, content, metadata)})
    named = _list(record.get("entities"))
    entities = [main, *(_entity(item, mention) for item in named)]
    operations = [_operation(CREATE_ENTITIES, "entities", entities, at)]
    relations = _relations(record, own, what, content, [_name(item) for item in named])
    if relations:
        operations.append(_operation(CREATE_RELATIONS, "relations", relations, at))
    return operations


def infer_entity_type(name: str) -> str:
    """Guess an entity's type from its name."""
    lowered = name.lower()
    return next((kind for kind, signs in _SIGNS if any(sign in lowered for sign in signs)), "Technology")


def stops_the_writer(record: Mapping[str, object]) -> str:
    """Say why OrchestKit's writer could not have made operations of such a record; "" for one that it could."""
    entities = record.get("entities")
    if not isinstance(entities, list):
        return "No list of entities"
    if not all(isinstance(item, str) for item in entities):
        return "Entities that are no texts"
    return "" if isinstance(record.get("relations"), list) else "No list of relations"


def _observations(what: str, content: dict[str, object], metadata: dict[str, object]) -> list[str]:
    found = [f"What: {what}"]
    if truthy(content.get("why")):
        found.append(f"Rationale: {_text(content['why'])}")
    for key, title, separator in (
        ("alternatives", "Alternatives considered", ", "),
        ("constraints", "Constraints", "; "),
        ("tradeoffs", "Tradeoffs", "; "),
    ):
        said = _list(content.get(key))
        if said:
            found.append(f"{title}: {_joined(said, separator)}")
    percent = whole_text(to_number(metadata.get("confidence", UNDEFINED)) * 100)
    return [
        *found,
        f"Category: {_text(metadata.get('category', UNDEFINED))}",
        f"Confidence: {percent}%",
        f"Source: {_text(metadata.get('source', UNDEFINED))}",
        f"Project: {_text(metadata.get('project', UNDEFINED))}",
        f"Timestamp: {_text(metadata.get('timestamp', UNDEFINED))}",
    ]


def _relations(
    record: Mapping[str, object], own: object, what: str, content: dict[str, object], names: list[object]
) -> list[dict[str, Any]]:
    main = _MAIN_RELATIONS.get(_text(record.get("type")), "MENTIONS")
    found = [_relation(own, name, main) for name in names]
    found += [_relation(what, other, "CHOSE_OVER") for other in _list(content.get("alternatives"))]
    found += [_relation(own, text, "CONSTRAINT") for text in _list(content.get("constraints"))]
    found += [_relation(own, text, "TRADEOFF") for text in _list(content.get("tradeoffs"))]
    found += [_relation(first, second, "RELATES_TO") for place, first in enumerate(names) for second in names[place + 1 :]]
    for said in map(mapping, _list(record.get("relations"))):
        kind = said.get("type", said.get("relationType", UNDEFINED))
        found.append(_relation(said.get("from", UNDEFINED), said.get("to", UNDEFINED), kind))
    return found


def _entity(item: object, mention: str) -> dict[str, Any]:
    name = _name(item)
    given = mapping(item)
    kind = given.get("entityType")
    return _present(
        {
            "name": name,
            "entityType": kind if isinstance(kind, str) else infer_entity_type(_text(name)),
            "observations": [*_list(given.get("observations")), mention],
        }
    )


def _name(item: object) -> object:
    return item.get("name", UNDEFINED) if isinstance(item, dict) else item


def _relation(start: object, end: object, kind: object) -> dict[str, Any]:
    return _present({"from": start, "to": end, "relationType": kind})


def _operation(kind: str, part: str, items: list[dict[str, Any]], at: object) -> dict[str, Any]:
    return _present({"type": kind, "payload": {part: items}, "timestamp": at})


def _present(value: dict[str, object]) -> dict[str, Any]:
    return {key: item for key, item in value.items() if item is not UNDEFINED}


def _list(value: object) -> list[object]:
    """Give a list's items; a text stands for a list of one."""
    if isinstance(value, list):
        return value
    return [value] if isinstance(value, str) and value else []


def _text(value: object) -> str:
    try:
        return text_of(value)
    except JsTypeError:
        return "[object Object]"


def _joined(items: list[object], separator: str) -> str:
    return separator.join("" if item is None else _text(item) for item in items)
