import csv
import email
from email import policy
from email.utils import parseaddr
from pathlib import Path

rows = []
for name in sorted([path.name for path in Path(".").glob("*.eml")]):
    mail = email.message_from_bytes(Path(name).read_bytes(), policy=policy.default)
    rows.append([name, parseaddr(str(mail["From"]))[1], str(mail["Subject"])])
with open("mails.csv", "w", newline="", encoding="utf-8") as file:
    writer = csv.writer(file)
    writer.writerow(["file", "sender", "subject"])
    writer.writerows(rows)
