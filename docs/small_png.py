"""Makes a screenshot small: at most 256 colours, which a page of ink on paper hardly exceeds, and the best compression."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Final

from playwright.sync_api import Page

MOST_COLOURS: Final = 256
_TO_INDEXES: Final = """
async ([picture, most]) => {
  const bitmap = await createImageBitmap(await (await fetch(picture)).blob());
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height), context = canvas.getContext('2d');
  context.drawImage(bitmap, 0, 0);
  const pixels = new Uint32Array(context.getImageData(0, 0, bitmap.width, bitmap.height).data.buffer);
  const counts = new Map(), alike = new Map();
  for (const colour of pixels) counts.set(colour, (counts.get(colour) || 0) + 1);
  const parts = colour => [colour & 255, colour >> 8 & 255, colour >> 16 & 255];
  const ranked = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a));
  for (const colour of ranked) {
    const group = colour & 0xf8f8f8;
    if (!alike.has(group)) alike.set(group, colour);
  }
  const kept = [...alike.values()].slice(0, most), index = new Map(kept.map((colour, place) => [colour, place]));
  for (const colour of ranked.filter(colour => !index.has(colour))) {
    const [r, g, b] = parts(colour);
    let best = 0, least = Infinity;
    kept.forEach((other, place) => {
      const [x, y, z] = parts(other), far = (r - x) ** 2 + (g - y) ** 2 + (b - z) ** 2;
      if (far < least) { least = far; best = place; }
    });
    index.set(colour, best);
  }
  let text = '';
  for (let at = 0; at < pixels.length; at += 8192)
    text += String.fromCharCode(...pixels.subarray(at, at + 8192).map(colour => index.get(colour)));
  return [bitmap.width, bitmap.height, kept.map(parts), btoa(text)];
}
"""


def small_png(page: Page, picture: bytes) -> bytes:
    """Give the same picture as a PNG with a palette: of colours that look alike the most frequent stands for all.

    A page of the browser that took it does the counting, on a blank page beside it, so no image library is needed.
    """
    beside = page.context.new_page()
    try:
        url = f"data:image/png;base64,{base64.b64encode(picture).decode()}"
        width, height, palette, indexes = beside.evaluate(_TO_INDEXES, [url, MOST_COLOURS])
    finally:
        beside.close()
    return _png(width, height, bytes(part for colour in palette for part in colour), base64.b64decode(indexes))


def _png(width: int, height: int, palette: bytes, indexes: bytes) -> bytes:
    rows = b"".join(b"\0" + indexes[at : at + width] for at in range(0, width * height, width))
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        _chunk(*part) for part in ((b"IHDR", header), (b"PLTE", palette), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    )


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
