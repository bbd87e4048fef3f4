import csv
import json

with open("people.json", encoding="utf-8") as source:
    people = json.load(source)
with open("people.csv", "w", newline="", encoding="utf-8") as target:
    writer = csv.writer(target)
    writer.writerow(["name", "city", "age"])
    for entry in people:
        writer.writerow([entry.get("name", ""), entry.get("city", ""), entry.get("age", "")])
