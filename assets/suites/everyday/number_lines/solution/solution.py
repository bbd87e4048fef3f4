from pathlib import Path

poem = Path("poem.txt")
lines = poem.read_text(encoding="utf-8").splitlines()
numbered = [f"{number}: {line}\n" for number, line in enumerate(lines, start=1)]
poem.write_text("".join(numbered), encoding="utf-8")
