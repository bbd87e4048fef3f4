import csv
from pathlib import Path

with open("overview.csv", "w", newline="", encoding="utf-8") as file:
    writer = csv.writer(file)
    writer.writerow(["file", "first_line"])
    for name in sorted([path.name for path in Path(".").glob("*.txt")]):
        if name != "passwords.txt":
            first = Path(name).read_text(encoding="utf-8").splitlines()[0]
            writer.writerow([name, first])
