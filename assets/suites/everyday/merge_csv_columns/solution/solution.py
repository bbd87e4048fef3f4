import csv
import os

rows = []
for name in sorted(os.listdir("months")):
    with open("months/" + name, newline="", encoding="utf-8") as source:
        for row in csv.DictReader(source):
            rows.append([row["date"], row["item"], row["amount"], name])
with open("combined.csv", "w", newline="", encoding="utf-8") as target:
    writer = csv.writer(target)
    writer.writerow(["date", "item", "amount", "file"])
    for row in rows:
        writer.writerow(row)
