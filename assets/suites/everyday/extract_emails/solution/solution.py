import re
from pathlib import Path

found = set()
for path in Path(".").glob("*.txt"):
    for address in re.findall(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+", path.read_text(encoding="utf-8")):
        found.add(address)
Path("emails.txt").write_text("\n".join(sorted(found)) + "\n", encoding="utf-8")
