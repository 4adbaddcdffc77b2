"""Make README's picture, docs/report.png: the first screen of the demo's report.

    python tools/picture.py            draw it, with Chromium
    python tools/picture.py --check    say whether the first screen has changed since; exit 1 if it has

The picture bears a hash of what it shows (header, answer and style, without dates), so a test can hold it
fresh without drawing it again.
"""

import argparse
import hashlib
import os
import re
import shutil
import struct
import sys
import tempfile
import zlib
from pathlib import Path

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "report.png"
CHROMIUM = shutil.which(os.environ.get("VIVA_CHROMIUM", "chromium"))
KEYWORD = b"first-screen"
SIZE = {"width": 1400, "height": 900}


def demo_report(folder: Path) -> Path:
    """The report of a demo made in this folder."""
    from typer.testing import CliRunner

    from vivavoce.cli import app

    CliRunner().invoke(app, ["demo", "--quiet", "--to", str(folder)], catch_exceptions=False)
    return folder / "demo.html"


def first_screen(report: Path) -> str:
    """The hash of what the first screen is made of: header, answer and style, without dates."""
    page = report.read_text(encoding="utf-8")
    parts = [
        re.search(pattern, page, re.DOTALL)
        for pattern in (
            r"<style>(.*?)</style>",
            r"<header>(.*?)</header>",
            r'<section [^>]*aria-labelledby="answer".*?</section>',
        )
    ]
    if not all(parts):
        raise SystemExit(f"{report} has no first screen that tools/picture.py knows.")
    text = "\n".join(part[0] for part in parts if part)
    return hashlib.sha256(re.sub(r"\d{4}-\d\d-\d\d", "DATE", text).encode()).hexdigest()[:16]


def draw(report: Path) -> bytes:
    """The first screen as a PNG."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE, color_scheme="light")
        page.goto(report.resolve().as_uri())
        picture = page.screenshot()
        browser.close()
    return picture


def with_hash(picture: bytes, digest: str) -> bytes:
    """The PNG with a text chunk that holds the hash, before the chunk that ends it."""
    content = b"tEXt" + KEYWORD + b"\0" + digest.encode()
    chunk = struct.pack(">I", len(content) - 4) + content + struct.pack(">I", zlib.crc32(content))
    end = picture.rindex(b"IEND") - 4
    return picture[:end] + chunk + picture[end:]


def hash_of(picture: bytes) -> str | None:
    """The hash that the PNG bears, null without one."""
    match = re.search(KEYWORD + rb"\0([0-9a-f]{16})", picture)
    return match[1].decode() if match else None


def main() -> int:
    """Draw the picture, or check it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="draw nothing; exit 1 if the picture is old")
    check = parser.parse_args().check
    with tempfile.TemporaryDirectory() as folder:
        report = demo_report(Path(folder))
        digest = first_screen(report)
        if check and hash_of(PICTURE.read_bytes()) != digest:
            print("docs/report.png is old: python tools/picture.py", file=sys.stderr)
            return 1
        if not check:
            PICTURE.write_bytes(with_hash(draw(report), digest))
            print(PICTURE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
