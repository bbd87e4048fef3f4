import csv

sums = {}
with open("sales.csv", newline="", encoding="utf-8") as source:
    for row in csv.DictReader(source):
        sums[row["region"]] = sums.get(row["region"], 0.0) + float(row["amount"])
with open("totals.csv", "w", newline="", encoding="utf-8") as target:
    writer = csv.writer(target)
    writer.writerow(["region", "total"])
    for region in sorted(sums):
        writer.writerow([region, f"{sums[region]:.2f}"])
