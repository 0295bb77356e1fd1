"""Takes the pictures of every page: makes installations that are thrown away, drives a real Chromium, writes PNGs.

python -m docs.take_screenshots                      the few pictures that the documents show, into docs/img
python -m docs.take_screenshots --all FOLDER         every page, at 1280 px light and dark and at 390 px
python -m docs.take_screenshots --all FOLDER queue   only the pages whose name begins so
"""

from __future__ import annotations

import argparse
import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urldefrag, urljoin

from playwright.sync_api import Browser, Page, sync_playwright

from docs.small_png import small_png

CHECKOUT: Final = Path(__file__).resolve().parents[1]
IMAGES: Final = CHECKOUT / "docs" / "img"
BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome")
QUIET: Final = ("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic", "--no-first-run")
START_WAIT_S: Final = 600.0
"""Making the demo's past takes a while on a busy machine."""
LINK_WAIT_S: Final = 60.0
TALLEST: Final = 2400
"""Pixels of a page that are taken with --all."""
PASSWORD_BYTES: Final = 12


class Form(NamedTuple):
    """Size and theme of a picture; `name` ends the file's name."""

    name: str
    width: int
    height: int
    theme: str


FORMS: Final = (Form("light", 1280, 900, "light"), Form("dark", 1280, 900, "dark"), Form("390", 390, 844, "light"))


class View(NamedTuple):
    """A page to take. Each part `{link:PATTERN}` at the end of `path` follows the first link of the page before that matches."""

    name: str
    path: str
    where: str = "demo"
    """demo: the sample stores · empty: no store yet · broken: a store of which files cannot be read."""
    signed_in: bool = True
    shown: tuple[str, ...] = ()
    """Forms that the documents show."""


VIEWS: Final = (
    View("sign-in", "/sign-in/", signed_in=False),
    View("first-run", "/", "empty", shown=("light",)),
    View("empty-decisions", "/decisions/", "empty"),
    View("empty-problems", "/problems/", "empty"),
    View("empty-queue", "/queue/", "empty"),
    View("empty-health", "/health/", "empty"),
    View("overview", "/", shown=("light", "dark", "390")),
    View("stores", "/stores/"),
    View("store-add", "/stores/add/"),
    View("store-records", "/stores/billing-core/"),
    View("store-faults", "/stores/billing-core/faults/{link:[?&]open=\\d+}", shown=("light", "dark")),
    View("fault", "/queue/?standing=poison{link:^/queue/\\d+/$}{link:/faults/\\d+/$}"),
    View("store-backlog", "/stores/billing-core/backlog/"),
    View("store-health", "/stores/billing-core/health/", shown=("light",)),
    View("condition-mute", "/stores/billing-core/health/{link:/mute/$}"),
    View("store-changes", "/stores/billing-core/changes/"),
    View("store-files", "/stores/billing-core/files/"),
    View("store-raw", "/stores/billing-core/raw/"),
    View("store-settings", "/stores/billing-core/settings/"),
    View("store-silenced", "/stores/atlas-web/faults/"),
    View("store-told", "/stores/billing-core/told/", shown=("light",)),
    View("store-told-nothing", "/stores/atlas-web/told/"),
    View("store-drain", "/stores/billing-core/drain/"),
    View("store-graph", "/stores/billing-core/graph/{link:/entities/\\d+/$}{link:/graph/$}", shown=("light",)),
    View("entity", "/stores/billing-core/graph/{link:/entities/\\d+/$}"),
    View("relation", "/stores/billing-core/graph/{link:/entities/\\d+/$}{link:/relations/\\d+/$}"),
    View("decisions", "/decisions/", shown=("light", "390")),
    View("decisions-filtered", "/decisions/?store=billing-core&category=database"),
    View("decisions-search", "/decisions/?q=cursor+pagination"),
    View("decisions-grouped", "/decisions/?group=category"),
    View("decisions-nothing", "/decisions/?store=shop-api&q=zeppelin"),
    View("decision", "/decisions/?store=billing-core{link:^/decisions/\\d+/$}", shown=("light",)),
    View("decision-successor", "/decisions/?store=billing-core{link:^/decisions/\\d+/$}{link:/successor/$}"),
    View("decision-secret", "/decisions/?store=data-platform&q=warehouse+etl{link:^/decisions/\\d+/$}"),
    View("saved-views", "/views/decisions/"),
    View("propose", "/nodes/?phase=stabilized&state=active{link:^/nodes/\\d+/$}{link:/propose/mark_stale/$}"),
    View("propose-merge", "/nodes/?phase=stabilized&state=active{link:^/nodes/\\d+/$}{link:/propose/merge/$}"),
    View("propose-path", "/stores/release-notes/propose/path/"),
    View("propose-drain", "/stores/billing-core/propose/queue/drain_queue/"),
    View("store-plan", "/stores/release-notes/plan/"),
    View("policy", "/review/policy/", shown=("light",)),
    View("policy-of-store", "/stores/billing-core/policy/?preset=strict"),
    View("applying", "/review/switch/"),
    View("audit-leads", "/audit/leads/?days=90&show=decided"),
    View("audit-event", "/audit/?event=store_added{link:[?&]open=\\d+}{link:^/audit/\\d+/}"),
    View("problems", "/problems/"),
    View("problem", "/problems/{link:^/problems/\\d+/$}"),
    View("queue", "/queue/?store=billing-core", shown=("light", "dark")),
    View("queue-poison", "/queue/?standing=poison"),
    View("queue-operation", "/queue/?store=billing-core&operation=create_relations{link:^/queue/\\d+/$}"),
    View("flows", "/flows/"),
    View("flow", "/flows/{link:^/flows/\\d+/$}", shown=("light",)),
    View("sessions", "/sessions/"),
    View("session-event", "/sessions/{link:^/sessions/events/\\d+/$}"),
    View("sessions-of-store", "/sessions/atlas-web/"),
    View("session", "/sessions/atlas-web/{link:/timeline/}"),
    View("solutions", "/solutions/"),
    View("solution", "/solutions/{link:^/solutions/\\d+/$}"),
    View("mem0", "/mem0/"),
    View("mem0-operation", "/mem0/{link:^/mem0/\\d+/$}"),
    View("preferences", "/preferences/"),
    View("preferences-tools", "/preferences/?form=tools{link:^/preferences/\\d+/$}", shown=("light",)),
    View("preferences-ways", "/preferences/?form=workflows{link:^/preferences/\\d+/$}"),
    View("memory-files", "/memory-files/"),
    View("memory-file", "/memory-files/?store=billing-core&form=index{link:^/memory-files/\\d+/$}", shown=("light",)),
    View("memory-file-rules", "/memory-files/?form=rules{link:^/memory-files/\\d+/$}"),
    View("graph-lines", "/graph/"),
    View("graph-line", "/graph/{link:^/graph/\\d+/$}"),
    View("other-records", "/other/"),
    View("other-record", "/other/?form=metrics{link:^/other/\\d+/$}"),
    View("nodes", "/nodes/"),
    View("node", "/nodes/?phase=stabilized&state=active{link:^/nodes/\\d+/$}", shown=("light",)),
    View("edges", "/edges/"),
    View("edge", "/edges/{link:^/edges/\\d+/$}"),
    View("paths", "/paths/"),
    View("path", "/paths/?state=active{link:^/paths/\\d+/$}"),
    View("path-tree", "/paths/?q=opaque{link:^/paths/\\d+/$}{link:/paths/\\?path=}", shown=("light", "dark")),
    View("path-lanes", "/stores/release-notes/paths/lanes/", shown=("light",)),
    View("path-compare", "/paths/?state=merged{link:^/paths/\\d+/$}{link:/compare/}"),
    View("activations", "/activations/"),
    View("activation", "/activations/{link:^/activations/\\d+/$}"),
    View("events", "/events/"),
    View("event", "/events/{link:^/events/\\d+/$}"),
    View("store-audit", "/store-audit/"),
    View("store-audit-record", "/store-audit/?decision=applied{link:^/store-audit/\\d+/$}"),
    View("profiles", "/profiles/"),
    View("profile", "/profiles/{link:^/profiles/\\d+/$}"),
    View("store-phases", "/stores/release-notes/phases/", shown=("light",)),
    View("event-versions", "/event-versions/"),
    View("search", "/search/?q=postgres"),
    View("search-nothing", "/search/?q=zeppelin"),
    View("review", "/review/", shown=("light", "dark")),
    View("review-mine", "/review/?tab=mine"),
    View("review-decided", "/review/?tab=decided"),
    View("review-nothing", "/review/?q=zeppelin"),
    View("action", "/review/{link:^/review/\\d+/}", shown=("light", "390")),
    View("action-split", "/review/{link:^/review/\\d+/}{link:[?&]diff=split}"),
    View("action-words", "/review/{link:^/review/\\d+/}{link:[?&]diff=words}"),
    View("action-line", "/review/{link:^/review/\\d+/}{link:[?&]at=}"),
    View("action-edit", "/review/{link:^/review/\\d+/}{link:/edit/$}"),
    View("action-decided", "/review/?tab=decided{link:^/review/\\d+/}", shown=("light",)),
    View("review-bulk", "/review/bulk/?decision=reject&every=1", shown=("light",)),
    View("review-assign", "/review/bulk/?decision=assign&every=1"),
    View("health", "/health/"),
    View("audit", "/audit/"),
    View("account", "/account/"),
    View("not-found", "/stores/nowhere/"),
    View("broken-overview", "/", "broken"),
    View("broken-store", "/stores/harbour/", "broken"),
    View("broken-faults", "/stores/harbour/faults/", "broken"),
    View("broken-decisions", "/decisions/", "broken"),
    View("broken-health", "/health/", "broken"),
)


class Site(NamedTuple):
    """A running memoryui and an account of it that may do everything."""

    address: str
    user: str
    password: str


def find_chromium() -> str:
    """Give the path of an installed Chromium; exits where there is none."""
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        raise SystemExit("Chromium is missing. Debian and Ubuntu: apt-get install chromium")
    return found


def _environment(**ours: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MEMORYUI_", "DJANGO_"))}
    return {**kept, "MEMORYUI_WORKER_LABEL": "build-01", **ours}


@contextmanager
def _running(environment: dict[str, str], *arguments: str) -> Iterator[str]:
    """Run a command of memoryui that serves; give what it said up to its address. Exits with its messages when it does not come up."""
    command = [sys.executable, str(CHECKOUT / "manage.py"), *arguments]
    with tempfile.TemporaryFile() as messages:
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=messages)  # noqa: S603  our own
        try:
            said = _said_until_address(process)
            if not said:
                messages.seek(0)
                raise SystemExit(f"memoryui did not come up:\n{messages.read().decode()}")
            yield said
        finally:
            process.terminate()
            process.wait()
            if process.stdout:
                process.stdout.close()


def _said_until_address(process: subprocess.Popen[bytes]) -> str:
    """Give what a process says until it has said its address; "" when it ends before, or takes too long."""
    said, deadline = b"", time.monotonic() + START_WAIT_S
    while process.stdout and (b"memoryui is on " not in said or not said.endswith(b"\n")):
        if not select.select([process.stdout], [], [], max(0.0, deadline - time.monotonic()))[0]:
            return ""
        piece = os.read(process.stdout.fileno(), 65536)
        if not piece:
            return ""
        said += piece
    return said.decode()


def _address(said: str) -> str:
    return said.rpartition("memoryui is on ")[2].strip()


@contextmanager
def _demo(place: Path) -> Iterator[Site]:
    """Serve the demo's stores, on which nobody writes meanwhile."""
    with _running(_environment(MEMORYUI_DEMO_DIR=str(place)), "load_demo", "--serve", "--no-live", "--port", "0") as said:
        password = re.findall(r"^  admin +(\S+)$", said, re.MULTILINE)[0]
        yield Site(_address(said), "admin", password)


@contextmanager
def _installation(place: Path, prepare: Sequence[Sequence[str]] = ()) -> Iterator[Site]:
    """Serve an installation of its own with one account, after running the commands of `prepare`."""
    password = os.urandom(PASSWORD_BYTES).hex()
    environment = _environment(
        MEMORYUI_DATA_DIR=str(place / "data"),
        MEMORYUI_STORE_ROOTS=str(place / "projects"),
        DJANGO_SUPERUSER_PASSWORD=password,
        DJANGO_SUPERUSER_EMAIL="",
    )
    (place / "projects").mkdir(parents=True, exist_ok=True)
    for arguments in (("migrate", "-v", "0"), ("createsuperuser", "--noinput", "-v", "0", "--username", "ines"), *prepare):
        command = [sys.executable, str(CHECKOUT / "manage.py"), *arguments]
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)  # noqa: S603  our own
    with _running(environment, "serve", "--port", "0") as said:
        yield Site(_address(said), "ines", password)


def _break_a_store(place: Path) -> Path:
    """Make a store whose decisions are a link and whose queue is a folder: neither is read."""
    memory = place / "projects" / "harbour" / ".claude" / "memory"
    memory.mkdir(parents=True)
    (place / "elsewhere.jsonl").write_bytes(b"{}\n")
    (memory / "decisions.jsonl").symlink_to(place / "elsewhere.jsonl")
    (memory / "graph-queue.jsonl").mkdir()
    (memory / "open-problems.jsonl").write_bytes(b"")
    return memory


@contextmanager
def _site(where: str, place: Path) -> Iterator[Site]:
    if where == "demo":
        with _demo(place) as site:
            yield site
    elif where == "empty":
        with _installation(place) as site:
            yield site
    else:
        memory = _break_a_store(place)
        with _installation(place, [("add_store", str(memory)), ("import_stores",)]) as site:
            yield site


def take(browser: Browser, site: Site, views: Sequence[View], forms: Sequence[Form], folder: Path, *, whole: bool) -> None:
    """Take the views of one site in the given forms; `whole` pages are taken to their end, at most TALLEST pixels."""
    for form in forms:
        wanted = [view for view in views if whole or form.name in view.shown]
        if not wanted:
            continue
        context = browser.new_context(
            base_url=site.address,
            viewport={"width": form.width, "height": form.height},
            color_scheme="dark" if form.theme == "dark" else "light",
            locale="en-GB",
        )
        context.set_default_timeout(60_000)
        page = context.new_page()
        signed_in = False
        for view in sorted(wanted, key=lambda view: view.signed_in):
            if view.signed_in and not signed_in:
                _sign_in(page, site)
                signed_in = True
            _open(page, view)
            target = folder / f"{view.name}-{form.name}.png"
            target.write_bytes(small_png(page, _picture(page, form, whole)))
            sys.stderr.write(f"{target.name}  {target.stat().st_size / 1000:.0f} kB\n")
        context.close()


def _sign_in(page: Page, site: Site) -> None:
    page.goto("/sign-in/")
    page.get_by_label("User name").fill(site.user)
    page.get_by_label("Password").fill(site.password)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/")


def _open(page: Page, view: View) -> None:
    first, *patterns = view.path.split("{link:")
    page.goto(first)
    for pattern in (written.removesuffix("}") for written in patterns):
        # Without its fragment, so that the page is not scrolled.
        page.goto(urljoin(page.url, urldefrag(_link(page, view, pattern)).url))
    page.evaluate("document.fonts.ready.then(() => true)")
    page.locator("[data-graph]:not([data-drawn])").first.wait_for(state="detached")


def _link(page: Page, view: View, pattern: str) -> str:
    """Give the first link that matches; a graph that is being built has it a little later. Exits where there is none."""
    deadline = time.monotonic() + LINK_WAIT_S
    while True:
        links: list[str] = page.eval_on_selector_all("a[href]", "links => links.map(link => link.getAttribute('href'))")
        found = next((link for link in links if re.search(pattern, link)), None)
        if found is not None:
            return found
        if time.monotonic() > deadline:
            raise SystemExit(f"{view.name}: no link of {page.url} matches {pattern}")
        page.wait_for_timeout(1000)
        page.reload()


def _picture(page: Page, form: Form, whole: bool) -> bytes:
    if not whole:
        return page.screenshot(animations="disabled")
    height = min(TALLEST, max(form.height, int(page.evaluate("document.documentElement.scrollHeight"))))
    return page.screenshot(full_page=True, animations="disabled", clip={"x": 0, "y": 0, "width": form.width, "height": height})


def main() -> None:
    """Take what the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", metavar="FOLDER", type=Path, help="take every page in every form into this folder")
    parser.add_argument("names", metavar="NAME", nargs="*", help="beginnings of the names of pages; default: all")
    given = parser.parse_args()
    folder: Path = given.all or IMAGES
    views = [view for view in VIEWS if (given.all or view.shown) and (not given.names or view.name.startswith(tuple(given.names)))]
    folder.mkdir(parents=True, exist_ok=True)
    arguments = [*QUIET, "--no-sandbox"] if os.geteuid() == 0 else [*QUIET]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=arguments)
        for where in dict.fromkeys(view.where for view in views):
            with tempfile.TemporaryDirectory(prefix="memoryui-") as scratch, _site(where, Path(scratch)) as site:
                take(browser, site, [view for view in views if view.where == where], FORMS, folder, whole=bool(given.all))
        browser.close()


if __name__ == "__main__":
    main()
