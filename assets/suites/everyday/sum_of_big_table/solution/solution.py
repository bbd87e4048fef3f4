import csv

total = 0
with open("measurements.csv", newline="", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        if row["station"] == "north":
            total += int(row["value"])
print(total)
