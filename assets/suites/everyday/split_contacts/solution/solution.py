from pathlib import Path

lines = Path("contacts.txt").read_text(encoding="utf-8").splitlines()
for start in range(0, len(lines), 50):
    part = "\n".join(lines[start : start + 50]) + "\n"
    Path(f"contacts-{start // 50 + 1}.txt").write_text(part, encoding="utf-8")
