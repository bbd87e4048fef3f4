import csv

with open("customers.csv", newline="", encoding="utf-8") as source:
    rows = list(csv.reader(source))
with open("berlin.csv", "w", newline="", encoding="utf-8") as target:
    writer = csv.writer(target)
    writer.writerow(rows[0])
    for row in rows[1:]:
        if row[2] == "Berlin":
            writer.writerow(row)
