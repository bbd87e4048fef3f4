import csv

with open("contracts.csv", newline="", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        if "2025-06-01" <= row["ends"] <= "2025-06-30":
            print(row["name"])
