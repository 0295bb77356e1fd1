"""The API `/api/v1/`: what the pages show, as JSON, for whoever may see it (a token or a session), and the review queue."""

from __future__ import annotations

from stores.api import actions, audit, decisions, further_records, graph, health, keys, phase_records, records, stores
from stores.api.base import make_api

api = make_api()
api.add_router("", stores.router)
api.add_router("", health.router)
api.add_router("", records.router)
api.add_router("", further_records.router)
api.add_router("", phase_records.router)
api.add_router("", graph.router)
api.add_router("", actions.router)
api.add_router("", decisions.router)
api.add_router("", keys.router)
api.add_router("", audit.router)
