from pathlib import Path

header = "date,item,amount\n"
for path in list(Path(".").glob("*.csv")):
    text = path.read_text(encoding="utf-8")
    if not text.startswith(header):
        path.write_text(header + text, encoding="utf-8")
