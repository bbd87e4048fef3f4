import os

counts = {}
for place, folders, names in os.walk("."):
    for name in names:
        kind = name.rsplit(".", 1)[1].lower()
        counts[kind] = counts.get(kind, 0) + 1
with open("types.csv", "w", encoding="utf-8") as file:
    file.write("type,files\n")
    for kind in sorted(counts, key=lambda kind: (-counts[kind], kind)):
        file.write(f"{kind},{counts[kind]}\n")
