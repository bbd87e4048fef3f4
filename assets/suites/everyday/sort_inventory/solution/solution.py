import csv

with open("inventory.csv", newline="", encoding="utf-8") as source:
    header, *rows = list(csv.reader(source))
rows = sorted(rows, key=lambda row: float(row[1]), reverse=True)
with open("inventory.csv", "w", newline="", encoding="utf-8") as target:
    writer = csv.writer(target)
    writer.writerow(header)
    for row in rows:
        writer.writerow(row)
