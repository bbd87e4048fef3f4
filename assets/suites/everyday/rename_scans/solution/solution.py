from pathlib import Path

for path in list(Path(".").glob("Scan *.pdf")):
    number = int(path.stem.split(" ")[1])
    path.rename(f"scan-{number:03d}.pdf")
