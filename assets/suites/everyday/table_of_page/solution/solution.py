import csv
import html
import re

with open("prices.html", encoding="utf-8") as file:
    page = file.read()
rows = []
for row in re.findall(r"<tr>(.*?)</tr>", page, re.DOTALL):
    cells = re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL)
    rows.append([html.unescape(re.sub(r"<[^>]+>", "", cell)).strip() for cell in cells])
with open("prices.csv", "w", newline="", encoding="utf-8") as file:
    csv.writer(file).writerows(rows)
