"""The bytes of a store's files: lines from the mirror, ranges read from the disk by the store's worker."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe

from stores.forms.stores import RawForm
from stores.selectors import stores as store_facts
from stores.selectors.raw import (
    LINES_LOOKED_THROUGH,
    bytes_read,
    files_of,
    find_reading,
    is_rewritable,
    line_of,
    range_to_read,
    version_bytes,
    versions_of,
)
from stores.selectors.store_page import store_frame
from stores.selectors.tasks import task_view
from stores.tasks.asking import ask_for_bytes
from stores.views.requests import signed_in, url_with, whole_number
from stores.views.stores import render_tab

PIECE_BYTES = 4096


@require_safe
def store_raw(request: HttpRequest, slug: str) -> HttpResponse:
    """Choose a file and a line or a range of bytes, and see it as text or as hex digits."""
    now = timezone.now()
    frame = store_frame(request.user, slug, "raw", now)
    files = files_of(frame.store)
    as_hex = request.GET.get("as") == "hex"
    content: dict[str, object] = {
        "as_hex": as_hex,
        "views": [
            {"label": "Text", "url": url_with(request, **{"as": ""}), "current": not as_hex},
            {"label": "Hex", "url": url_with(request, **{"as": "hex"}), "current": as_hex},
        ],
        "form": RawForm(initial={"line": 1}, files=files),
        "piece_bytes": PIECE_BYTES,
    }
    status = 200
    task_id = whole_number(request, "task", 0, 2**62)
    if task_id:
        reading = find_reading(frame.store, task_id)
        asked = reading.arguments
        content["form"] = RawForm(
            initial={"file": asked.get("path"), "offset": asked.get("shown_offset"), "length": asked.get("shown_length")}, files=files
        )
        content |= {"path": asked.get("path"), "reading": task_view(reading, now)}
        if reading.state == "done":
            content |= {"shown": bytes_read(reading), "read_at": reading.finished_at}
    elif version_id := whole_number(request, "version", 0, 2**62):
        version, shown = version_bytes(frame.store, version_id)
        content["form"] = RawForm(initial={"file": version.file.path}, files=files)
        content |= {"path": version.file.path, "shown": shown, "seen_at": version.seen_at, "versions": versions_of(version.file)}
    elif "file" in request.GET:
        form = RawForm(request.GET, files=files)
        content["form"] = form
        if form.is_valid():
            file = next(one for one in files if one.path == form.cleaned_data["file"])
            number = form.cleaned_data["line"]
            if number is None and is_rewritable(frame.store, file):
                content |= {"path": file.path, "versions": versions_of(file)}
                return render_tab(request, "stores/store_raw.html", frame, content)
            number = number or 1
            content |= {
                "path": file.path,
                "file": file,
                "line": number,
                "shown": line_of(file, number),
                "too_many": file.line_count > LINES_LOOKED_THROUGH,
                "previous_url": url_with(request, line=str(number - 1)) if number > 1 else "",
                "next_url": url_with(request, line=str(number + 1)),
            }
        else:
            status = 422
    return render_tab(request, "stores/store_raw.html", frame, content, status)


@require_POST
def store_raw_read(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask the store's worker for a range of bytes of one file."""
    user = signed_in(request)
    store = store_facts.find_store(user, slug)
    files = files_of(store)
    form = RawForm(request.POST, files=files)
    if not form.is_valid():
        frame = store_frame(user, slug, "raw", timezone.now())
        return render_tab(request, "stores/store_raw.html", frame, {"form": form, "piece_bytes": PIECE_BYTES}, 422)
    offset, length = form.cleaned_data["offset"] or 0, form.cleaned_data["length"] or PIECE_BYTES
    begin, whole = range_to_read(offset, length)
    task = ask_for_bytes(store, form.cleaned_data["file"], begin, whole, by=user, shown=(offset, length))
    return redirect(f"{reverse('store_raw', args=[slug])}?{urlencode({'task': task.pk})}")
