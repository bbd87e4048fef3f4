import hashlib
from pathlib import Path

files = sorted([path.as_posix() for path in Path(".").rglob("*") if path.is_file()])
lines = ["file,bytes,sha256"]
for name in files:
    content = Path(name).read_bytes()
    lines.append(f"{name},{len(content)},{hashlib.sha256(content).hexdigest()}")
Path("manifest.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
