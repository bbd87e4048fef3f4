import re
from pathlib import Path

for path in list(Path("letters").glob("*.txt")):
    found = re.search(r"ORD-\d+", path.read_text(encoding="utf-8"))
    if found:
        print(found.group(0), "in", path.name)
