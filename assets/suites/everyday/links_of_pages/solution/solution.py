import re
from pathlib import Path

links = set()
for path in Path(".").glob("*.html"):
    links.update(re.findall(r'<a [^>]*href="(http[^"]*)"', path.read_text(encoding="utf-8")))
Path("links.txt").write_text("\n".join(sorted(links)) + "\n", encoding="utf-8")
