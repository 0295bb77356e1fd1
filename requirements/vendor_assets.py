"""Copies the pinned browser assets from node_modules into static/vendor, each under a name that carries its hash.

`make vendor` runs it after `npm ci`. The names change with the contents, so a browser may keep a file for ever; the style sheet and
the base template name them, and a test compares every name with its contents.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ROOT / "node_modules"
VENDOR = ROOT / "static" / "vendor"
_SOURCE_MAP = re.compile(rb"\n?//[#@] ?sourceMappingURL=[^\n]*\n?")


class Asset(NamedTuple):
    """One file of a package and the name it gets here, before the hash."""

    package: str
    source: str
    name: str


ASSETS = (
    Asset("@fontsource-variable/ibm-plex-sans", "files/ibm-plex-sans-latin-wght-normal.woff2", "ibm-plex-sans-latin.woff2"),
    Asset("@fontsource-variable/ibm-plex-sans", "files/ibm-plex-sans-latin-ext-wght-normal.woff2", "ibm-plex-sans-latin-ext.woff2"),
    Asset("@fontsource-variable/ibm-plex-sans", "files/ibm-plex-sans-latin-wght-italic.woff2", "ibm-plex-sans-latin-italic.woff2"),
    Asset("@fontsource/ibm-plex-mono", "files/ibm-plex-mono-latin-400-normal.woff2", "ibm-plex-mono-latin-400.woff2"),
    Asset("@fontsource/ibm-plex-mono", "files/ibm-plex-mono-latin-500-normal.woff2", "ibm-plex-mono-latin-500.woff2"),
    Asset("htmx.org", "dist/htmx.min.js", "htmx.js"),
    Asset("cytoscape", "dist/cytoscape.min.js", "cytoscape.js"),
)


def hashed_name(name: str, data: bytes) -> str:
    """Give `name` with the first 8 hex digits of the contents' sha256 before its suffix."""
    stem, _, suffix = name.rpartition(".")
    return f"{stem}.{hashlib.sha256(data).hexdigest()[:8]}.{suffix}"


def licence_name(package: str) -> str:
    """Give the name under which a package's licence stands beside its files."""
    return f"{package.rpartition('/')[2]}.LICENSE.txt"


def vendor() -> None:
    """Replace the contents of static/vendor by the pinned assets, their licences and a table of both."""
    VENDOR.mkdir(parents=True, exist_ok=True)
    for old in VENDOR.iterdir():
        old.unlink()
    rows = []
    for asset in ASSETS:
        package = PACKAGES / asset.package
        facts = json.loads((package / "package.json").read_text("utf-8"))
        data = (package / asset.source).read_bytes()
        if asset.name.endswith((".js", ".css")):
            # A map that is not shipped would be asked for by every open developer console.
            data = _SOURCE_MAP.sub(b"\n", data)
        name = hashed_name(asset.name, data)
        (VENDOR / name).write_bytes(data)
        (VENDOR / licence_name(asset.package)).write_bytes((package / "LICENSE").read_bytes())
        rows.append(f"| `{name}` | {asset.package} | {facts['version']} | {facts['license']} | `{licence_name(asset.package)}` |")
    (VENDOR / "README.md").write_text(
        "# Vendored browser assets\n\n"
        "Copied from npm packages by `make vendor`; `package.json` and `package-lock.json` pin them. The eight hex digits in a name are the\n"
        "start of the sha256 of the file, so a changed file has a new name and browsers may keep the old one for ever. Change nothing here by\n"
        "hand: change the pin, run `make vendor`, and put the new names where the old ones stood.\n\n"
        "| file | package | version | licence | its text |\n| --- | --- | --- | --- | --- |\n" + "\n".join(rows) + "\n",
        "utf-8",
    )


if __name__ == "__main__":
    if not PACKAGES.is_dir():
        sys.exit("node_modules is missing: run `make vendor`, which runs `npm ci` first.")
    vendor()
