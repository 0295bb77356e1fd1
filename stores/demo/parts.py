"""What the sample projects are made of; decisions are about these parts."""

from __future__ import annotations

SHOP = (
    "cart", "checkout", "price list", "order export", "stock sync", "product search", "voucher service", "returns form",
    "order history", "mail templates", "tax table", "wish list", "image service", "shipping quotes",
)  # fmt: skip
BILLING = (
    "invoice run", "ledger", "dunning mails", "payment webhook", "refund flow", "bank import", "credit notes", "tax report",
    "subscription renewals", "card vault", "currency table", "monthly close", "usage meter", "plan changes", "approval list",
    "dispute inbox", "statement export", "receipt archive",
)  # fmt: skip
ATLAS = (
    "map view", "tile cache", "route planner", "place search", "offline bundle", "settings page", "share links", "print view",
    "review form", "photo upload", "account menu", "language switch", "layer list", "address form",
)  # fmt: skip
CHECKOUT = ("address step", "payment step", "summary page", "voucher field", "guest sign-in")
DATA = (
    "event intake", "daily snapshot", "customer table", "feature store", "churn model", "sales mart", "schema registry",
    "late events job", "dedup job", "currency feed", "web log import", "partner feed", "backfill tool", "lineage graph",
    "quality checks", "cost report", "sandbox", "column masks", "retention job", "notebook images", "query gateway",
    "dashboard extracts", "forecast run", "anomaly alerts", "sampling job", "geo lookup", "session stitching", "archive tier",
    "access requests", "data catalogue", "test fixtures", "warehouse loader", "stream joiner", "key rotation", "cold storage",
)  # fmt: skip
