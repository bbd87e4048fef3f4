import csv

sums = {}
with open("donations.csv", newline="", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        sums[row["donor"]] = sums.get(row["donor"], 0) + int(row["amount"])
with open("sums.csv", "w", newline="", encoding="utf-8") as file:
    writer = csv.writer(file)
    writer.writerow(["donor", "total"])
    for donor in sorted(sums):
        writer.writerow([donor, sums[donor]])
