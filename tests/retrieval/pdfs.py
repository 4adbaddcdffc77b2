"""PDFs for tests: sound, scanned, encrypted and hostile ones."""

from collections.abc import Sequence
from io import BytesIO
from textwrap import wrap

from tests.lazy import lazy_module

pypdf, reportlab_canvas = lazy_module("pypdf"), lazy_module("reportlab.pdfgen.canvas")


def pdf(*pages: str) -> bytes:
    """A PDF with these pages, their lines broken at 80 characters; an empty one holds a box."""
    buffer = BytesIO()
    canvas = reportlab_canvas.Canvas(buffer, invariant=1)
    for page in pages:
        for k, line in enumerate(wrap(page, 80)):
            canvas.drawString(72, 760 - 14 * k, line)
        if not page:
            canvas.rect(72, 72, 300, 300, fill=1)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def encrypted(content: bytes, password: str) -> bytes:
    """The same PDF, which opens with a password."""
    writer = pypdf.PdfWriter(clone_from=pypdf.PdfReader(BytesIO(content)))
    writer.encrypt(password, owner_password="owner", algorithm="RC4-128")
    buffer = BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


def objects(parts: Sequence[bytes]) -> bytes:
    """A PDF of these objects, numbered from 1; the first is its catalogue."""
    content, offsets = b"%PDF-1.4\n", []
    for number, part in enumerate(parts, 1):
        offsets.append(len(content))
        content += b"%d 0 obj\n%s\nendobj\n" % (number, part)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    start = len(content)
    content += b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(parts) + 1, table)
    return content + b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        len(parts) + 1,
        start,
    )
