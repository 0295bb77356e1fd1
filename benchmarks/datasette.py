"""The same rows in Datasette, with the same columns indexed and the same words searchable, asked for the same lists."""

from __future__ import annotations

import asyncio
import statistics
import time
from pathlib import Path
from urllib.parse import quote

ROUNDS = 5
QUERIES = {
    "newest": "_sort_desc=at",
    "area": "category=database&_sort_desc=at",
    "type": "type=preference&_sort_desc=at",
    "said by": f"said_by={quote('person7@team.example')}&_sort_desc=at",
    "area and type": "category=database&type=decision&_sort_desc=at",
    "sorted by area": "_sort=category",
    "oldest first": "_sort=at",
    "a frequent word": "_search=redis",
    "two words": "_search=redis+rollback",
    "a word that does not occur": "_search=zeppelin",
}
FACETS = "&_facet=category&_facet=type&_facet=said_by&_size=50"


def measure(database: Path) -> dict[str, float]:
    """Give the median of each list page in ms, with the facets that the product shows."""
    return asyncio.run(_measure(database))


async def _measure(database: Path) -> dict[str, float]:
    from datasette.app import Datasette

    served = Datasette([str(database)], settings={"sql_time_limit_ms": 60_000, "facet_time_limit_ms": 60_000})
    await served.invoke_startup()
    name = database.stem
    taken: dict[str, list[float]] = {query: [] for query in QUERIES}
    for turn in range(ROUNDS + 1):
        for title, query in QUERIES.items():
            began = time.perf_counter()
            response = await served.client.get(f"/{name}/decision?{query}{FACETS}")
            if response.status_code != 200:
                raise SystemExit(f"Datasette answered {response.status_code} to {query}: {response.text[:300]}")
            if turn:
                taken[title].append(time.perf_counter() - began)
    return {title: statistics.median(values) * 1000 for title, values in taken.items()}
