import hashlib
import os

seen = set()
extra = []
for name in sorted(os.listdir(".")):
    with open(name, "rb") as source:
        digest = hashlib.sha256(source.read()).hexdigest()
    if digest in seen:
        extra.append(name)
    seen.add(digest)
os.makedirs("duplicates", exist_ok=True)
for name in extra:
    os.rename(name, "duplicates/" + name)
print(f"Moved {len(extra)} copies.")
