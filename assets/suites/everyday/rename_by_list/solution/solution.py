import csv
import os

missing = []
with open("rename.csv", newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
for row in rows:
    if os.path.exists(row["old"]):
        os.rename(row["old"], row["new"])
    else:
        missing.append(row["old"])
with open("missing.txt", "w", encoding="utf-8") as file:
    file.write("\n".join(missing) + "\n")
