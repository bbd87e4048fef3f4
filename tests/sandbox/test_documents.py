"""Text of documents: every kind, broken ones, and ones that are made to do harm."""

from __future__ import annotations

import io
import threading
import zipfile
from collections.abc import Iterator
from email.message import EmailMessage

import pytest
from docx import Document
from openpyxl import Workbook
from pypdf import PdfWriter

from sandbox.document_process import DocumentProcess
from sandbox.documents import DocumentError, text_of

LIMIT = 10_000


def pdf(*pages: str) -> bytes:
    """A small PDF with a line of text a page."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>"]
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects.append(f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode())
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    for number, text in enumerate(pages):
        content = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode()
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] "
            b"/Resources << /Font << /F1 3 0 R >> >> "
            + f"/Contents {5 + 2 * number} 0 R >>".encode()
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
    data = bytearray(b"%PDF-1.4\n")
    places = []
    for number, item in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, item)
    start = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    data += b"".join(b"%010d 00000 n \n" % place for place in places)
    data += b"trailer << /Size %d /Root 1 0 R >>\n" % (len(objects) + 1)
    return bytes(data + b"startxref\n%d\n%%%%EOF\n" % start)


def docx() -> bytes:
    document = Document()
    document.add_heading("Report", 1)
    document.add_paragraph("First paragraph.")
    table = document.add_table(rows=1, cols=2)
    table.rows[0].cells[0].text, table.rows[0].cells[1].text = "left", "right"
    document.add_paragraph("Last.")
    target = io.BytesIO()
    document.save(target)
    return target.getvalue()


def xlsx() -> bytes:
    workbook = Workbook()
    sheet = workbook.active
    assert sheet is not None
    sheet.title = "Sums"
    sheet.append(["item", "price"])
    sheet.append(["Lamp", 12.5])
    sheet.append([None, None, 7])
    target = io.BytesIO()
    workbook.save(target)
    return target.getvalue()


def mail() -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "ann@x.example", "bob@x.example", "Grüße"
    message.set_content("Hello Bob")
    message.add_alternative("<p>Hello <b>HTML</b></p>", subtype="html")
    message.add_attachment(b"1", maintype="application", subtype="pdf", filename="bill.pdf")
    return message.as_bytes()


PAGE = """<!doctype html><html><head><title>A page</title><style>p {}</style></head><body>
<script>alert("no")</script><h1>Head</h1><p>One  <b>bold</b> word.</p>
<table><tr><td>a</td><td>b</td></tr></table><!-- hidden --></body></html>"""


def packed(files: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return target.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("a.pdf", pdf("Page one", "Page two"), "Page one\n\nPage two"),
        ("a.docx", docx(), "Report\nFirst paragraph.\nleft\tright\n\nLast."),
        ("a.xlsx", xlsx(), "# Sums\nitem\tprice\nLamp\t12.5\n\t\t7"),
        (
            "a.eml",
            mail(),
            "From: ann@x.example\nTo: bob@x.example\nSubject: Grüße\n\n"
            "Hello Bob\n\nAttachments: bill.pdf",
        ),
        ("a.html", PAGE.encode(), "A page\n\nHead\nOne bold word.\na\t b"),
        ("a.txt", "Grüße".encode(), "Grüße"),
        ("a.txt", "Grüße aus Köln, schöne Tage und große Freude".encode("cp1252"), None),
        ("a.txt", "wide".encode("utf-16"), "wide"),
        ("no-ending", pdf("By content"), "By content"),
        ("empty.txt", b"", ""),
    ],
)
def test_a_document_becomes_text(name: str, data: bytes, text: str | None) -> None:
    expected = "Grüße aus Köln, schöne Tage und große Freude" if text is None else text
    assert text_of(name, data, LIMIT) == expected


def test_text_stops_at_the_limit_and_says_so() -> None:
    text = text_of("a.txt", b"x" * 500, 100)
    assert text.startswith("x" * 100 + "\n[... cut after 100 characters")


def protected() -> bytes:
    writer = PdfWriter()
    writer.add_blank_page(72, 72)
    writer.encrypt("secret", algorithm="RC4-128")
    target = io.BytesIO()
    writer.write(target)
    return target.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "problem"),
    [
        ("a.pdf", b"%PDF-1.7\ngarbage", "damaged"),
        ("a.pdf", pdf("x").replace(b"/Root", b"/Toor").replace(b"/Catalog", b"/C"), "damaged"),
        ("a.pdf", protected(), "password"),
        ("a.docx", b"PK\x03\x04 garbage", "damaged"),
        ("a.docx", packed({"word/document.xml": b"<w"}), "damaged"),
        ("a.xlsx", packed({"xl/workbook.xml": b"<w"}), "damaged"),
        ("a.zip", packed({"x.txt": b"x"}), "archive"),
        ("a.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 100, "old Office"),
        ("a.bin", bytes(range(256)), "not a document"),
    ],
)
def test_what_cannot_be_read_says_why(name: str, data: bytes, problem: str) -> None:
    with pytest.raises(DocumentError, match=problem):
        text_of(name, data, LIMIT)


@pytest.mark.parametrize("inner", ["word/document.xml", "xl/workbook.xml"])
def test_a_small_file_that_unpacks_to_a_huge_one_is_refused_before_that(inner: str) -> None:
    data = packed({inner: b"<a/>", "bomb.xml": b"0" * 120_000_000})
    assert len(data) < 1_000_000
    with pytest.raises(DocumentError, match="100 MiB"):
        text_of("a.docx", data, LIMIT)


ENTITIES = b"""<?xml version="1.0"?><!DOCTYPE a [
<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;">
<!ENTITY f SYSTEM "file:///etc/passwd">]>"""


@pytest.mark.parametrize("entity", [b"&d;", b"&f;"])
def test_entities_of_a_document_are_not_expanded(entity: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(docx())) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    body = files["word/document.xml"].partition(b"?>")[2]
    files["word/document.xml"] = ENTITIES + body.replace(b"First paragraph.", entity)
    text = text_of("a.docx", packed(files), LIMIT)
    assert "haha" not in text
    assert "root:" not in text


@pytest.fixture
def process() -> Iterator[DocumentProcess]:
    started = DocumentProcess(lambda: False)
    yield started
    started.close()


def test_the_process_reads_one_document_after_another(process: DocumentProcess) -> None:
    first = process.start("a.pdf", pdf("One"), LIMIT)
    second = process.start("b.txt", "zwei ü".encode(), LIMIT)
    assert (first.result(60), second.result(60)) == ("One", "zwei ü")


def test_a_problem_of_one_document_does_not_end_the_process(process: DocumentProcess) -> None:
    with pytest.raises(ValueError, match=r"a\.pdf cannot be read: the PDF is damaged"):
        process.start("a.pdf", b"%PDF-1.7\n", LIMIT).result(60)
    assert process.start("b.txt", b"fine", LIMIT).result(60) == "fine"


def test_a_document_that_takes_too_long_is_ended_and_the_next_one_read() -> None:
    process = DocumentProcess(lambda: False, timeout_s=0.001)
    try:
        with pytest.raises(ValueError, match="takes too long"):
            process.start("a.pdf", pdf("x"), LIMIT).result(60)
        process._timeout_s = 30.0
        assert process.start("b.txt", b"fine", LIMIT).result(60) == "fine"
    finally:
        process.close()


def test_a_document_whose_reader_ends_is_named_and_the_next_one_read(
    process: DocumentProcess,
) -> None:
    assert process.start("a.txt", b"fine", LIMIT).result(60) == "fine"
    running = process._process
    assert running is not None
    running.kill()
    running.wait(60)
    running.poll = lambda: None  # type: ignore[method-assign]  # it ends between look and use
    with pytest.raises(ValueError, match=r"b\.txt cannot be read: its reader ended"):
        process.start("b.txt", b"x", LIMIT).result(60)
    del running.poll  # type: ignore[attr-defined]
    assert process.start("c.txt", b"fine again", LIMIT).result(60) == "fine again"


def test_nothing_is_started_after_the_end() -> None:
    process = DocumentProcess(lambda: False)
    process.close()
    with pytest.raises(RuntimeError):
        process.start("a.txt", b"x", LIMIT)


def test_a_stopped_run_starts_no_process() -> None:
    stopped = threading.Event()
    stopped.set()
    process = DocumentProcess(stopped.is_set)
    try:
        with pytest.raises(ValueError, match="ended"):
            process.start("a.txt", b"x", LIMIT).result(60)
    finally:
        process.close()
