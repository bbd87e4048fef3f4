import csv

paid = {}
with open("expenses.csv", newline="", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        paid[row["person"]] = paid.get(row["person"], 0) + float(row["amount"])
share = sum(paid.values()) / len(paid)
with open("balance.csv", "w", encoding="utf-8") as file:
    file.write("person,balance\n")
    for person in sorted(paid):
        file.write(f"{person},{paid[person] - share:.2f}\n")
