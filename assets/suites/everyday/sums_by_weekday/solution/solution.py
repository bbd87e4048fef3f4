import csv
from datetime import date

names = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
totals = [0.0] * 7
with open("sales.csv", newline="", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        totals[date.fromisoformat(row["date"]).weekday()] += float(row["amount"])
with open("weekdays.csv", "w", encoding="utf-8") as file:
    file.write("weekday,total\n")
    for name, total in zip(names, totals):
        file.write(f"{name},{total:.2f}\n")
