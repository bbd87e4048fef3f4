import csv

with open("kunden.csv", newline="", encoding="cp1252") as source:
    rows = list(csv.reader(source, delimiter=";"))
with open("customers.csv", "w", newline="", encoding="utf-8") as target:
    writer = csv.writer(target)
    for row in rows:
        writer.writerow(row)
