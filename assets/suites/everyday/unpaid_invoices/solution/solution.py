import csv

paid = {}
with open("payments.csv", newline="", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        paid[row["invoice"]] = paid.get(row["invoice"], 0) + float(row["paid"])
rows = []
with open("invoices.csv", newline="", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        left = round(float(row["amount"]) - paid.get(row["invoice"], 0), 2)
        if left > 0:
            rows.append([row["invoice"], row["customer"], f"{left:.2f}"])
rows.sort()
with open("unpaid.csv", "w", newline="", encoding="utf-8") as file:
    writer = csv.writer(file)
    writer.writerow(["invoice", "customer", "open"])
    writer.writerows(rows)
