"""The folder that every conformance script works in."""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
from pathlib import Path

_STAMP = 1_700_000_000
_MAIL = """From: Ann Lee <ann@example.com>
To: office@example.com
Subject: =?utf-8?q?Caf=C3=A9_invoice?=
Date: Mon, 04 Mar 2024 10:15:00 +0000
Content-Type: text/plain; charset="utf-8"

Please find the invoice 4711 over 120.50 EUR.
Regards, Ann
"""
_XML = """<?xml version="1.0"?>
<catalog>
  <book id="b1" lang="en"><title>Dry Docks</title><price>12.50</price></book>
  <book id="b2" lang="de"><title>Der Hafen</title><price>8.00</price></book>
  <book id="b3" lang="en"><title>Tides &amp; Moons</title><price>20.25</price></book>
</catalog>
"""

FILES: dict[str, str | bytes] = {
    "invoices/inv_2024-01-15_acme.txt": "Invoice 1\nTotal: 120.50 EUR\nCustomer: Acme\n",
    "invoices/inv_2024-02-03_beta.txt": "Invoice 2\nTotal: 80.00 EUR\nCustomer: Beta\n",
    "invoices/inv_2024-02-20_acme.txt": "Invoice 3\nTotal: 19.95 EUR\nCustomer: Acme\n",
    "invoices/readme.md": "# Not an invoice\n\nSee [the site](https://example.com/a?b=1).\n",
    "sales.csv": 'date,product,amount,note\n2024-01-01,apple,3,"a, b"\n2024-01-02,pear,5,\n'
    "2024-02-01,apple,7,late\n2024-02-11,plum,2,\n2024-03-05,pear,1,gift\n",
    "people.json": '[{"name": "Ann", "age": 31, "city": "Bonn"}, {"name": "Bob", "age": 27, '
    '"city": "Kiel"}, {"name": "Zoë", "age": 45, "city": "Bonn"}]',
    "settings.ini": "[main]\nname = Dock\nretries = 3\nverbose = yes\n\n"
    "[paths]\nroot = /srv/data\ncache = %(root)s/cache\n",
    "settings.toml": 'title = "Dock"\n[owner]\nname = "Ann"\nports = [8000, 8001]\n',
    "app.log": "2024-01-01 10:00:00 INFO start\n2024-01-01 10:00:05 ERROR disk full\n"
    "2024-01-02 11:00:00 WARN slow\n2024-01-02 11:30:00 ERROR timeout after 30s\n"
    "2024-01-03 09:00:00 INFO stop\n",
    "access.log": '10.0.0.1 - - [01/Jan/2024:10:00:00 +0000] "GET /a HTTP/1.1" 200 512\n'
    '10.0.0.2 - - [01/Jan/2024:10:00:01 +0000] "POST /b HTTP/1.1" 500 12\n'
    '10.0.0.1 - - [01/Jan/2024:11:00:02 +0000] "GET /c HTTP/1.1" 404 0\n',
    "mess/IMG_001.JPG": b"\xff\xd8one",
    "mess/IMG_002.jpg": b"\xff\xd8two",
    "mess/copy of IMG_001.jpg": b"\xff\xd8one",
    "mess/report final (2).docx": b"PK\x03\x04",
    "mess/song.mp3": b"ID3" + bytes(range(40)),
    "mess/notes.txt": "TODO buy milk\ncall Bob\nTODO pay rent\n",
    "mess/.DS_Store": b"\x00",
    "empty/inner/": b"",
    "deep/a/b/c/file.txt": "deep\n",
    "text.txt": "the quick brown fox\njumps over the lazy dog\n\nthe end\n",
    "windows.txt": b"one\r\ntwo\r\nthree\r\n",
    "latin.dat": "caf\u00e9 \u00e0 la carte\n".encode("latin-1"),
    "mail.eml": _MAIL,
    "catalog.xml": _XML,
    "page.html": "<html><body><h1>Ports &amp; Docks</h1><a href='/one'>One</a>"
    "<a href='/two'>Two</a></body></html>\n",
}


def _zip_bytes() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in (("a.txt", "alpha\n"), ("sub/b.txt", "beta\n" * 50)):
            archive.writestr(zipfile.ZipInfo(name, (2024, 1, 2, 3, 4, 6)), text)
    return out.getvalue()


def _tar_bytes() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, text in (("t/one.txt", b"one\n"), ("t/two.txt", b"two\n")):
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(text), _STAMP
            archive.addfile(info, io.BytesIO(text))
    return out.getvalue()


_ZIP, _TAR = _zip_bytes(), _tar_bytes()


def make(folder: Path) -> None:
    """Make the folder's content, with times that do not depend on when."""
    for name, content in {**FILES, "pack.zip": _ZIP, "pack.tar": _TAR}.items():
        path = folder / name
        if name.endswith("/"):
            path.mkdir(parents=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    for number, path in enumerate(sorted(folder.rglob("*"))):
        os.utime(path, (_STAMP + number * 86_400, _STAMP + number * 86_400))
