"""A screenshot made small is the same picture."""

from __future__ import annotations

import struct
import zlib

import pytest
from playwright.sync_api import Browser

from docs.small_png import small_png

pytestmark = pytest.mark.browser

WIDTH, HEIGHT = 120, 80
COLOURS = [(253, 253, 251), (187, 38, 36), (30, 90, 160), (36, 38, 47)]
PAGE = "<body style='margin:0'>" + "".join(f"<div style='height:20px;background:rgb{colour}'></div>" for colour in COLOURS)


def chunks(picture: bytes) -> dict[bytes, bytes]:
    """Give the chunks of a PNG by name, each checked against its sum."""
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    found, at = {}, 8
    while at < len(picture):
        (length,) = struct.unpack(">I", picture[at : at + 4])
        name, data = picture[at + 4 : at + 8], picture[at + 8 : at + 8 + length]
        assert struct.unpack(">I", picture[at + 8 + length : at + 12 + length])[0] == zlib.crc32(name + data)
        found[name] = data
        at += 12 + length
    return found


def test_every_pixel_keeps_its_colour(browser: Browser) -> None:
    context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT})
    page = context.new_page()
    page.set_content(PAGE)
    made = chunks(small_png(page, page.screenshot()))
    context.close()
    assert struct.unpack(">IIBBBBB", made[b"IHDR"]) == (WIDTH, HEIGHT, 8, 3, 0, 0, 0)
    palette, rows = made[b"PLTE"], zlib.decompress(made[b"IDAT"])
    for line in range(HEIGHT):
        row = rows[line * (WIDTH + 1) : (line + 1) * (WIDTH + 1)]
        assert row[0] == 0
        assert {tuple(palette[index * 3 : index * 3 + 3]) for index in row[1:]} == {COLOURS[line // 20]}
