import os

parts = []
for name in sorted(os.listdir("notes")):
    with open("notes/" + name, encoding="utf-8") as source:
        parts.append("== " + name + " ==\n" + source.read())
with open("all_notes.txt", "w", encoding="utf-8") as target:
    target.write("".join(parts))
