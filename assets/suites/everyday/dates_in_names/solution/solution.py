import re
from pathlib import Path

for path in list(Path(".").glob("*.txt")):
    found = re.match(r"^(.*) (\d\d)\.(\d\d)\.(\d\d\d\d)$", path.stem)
    if found:
        title, day, month, year = found.groups()
        path.rename(f"{year}-{month}-{day} {title}.txt")
