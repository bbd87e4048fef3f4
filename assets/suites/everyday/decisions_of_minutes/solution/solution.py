lines = []
with open("minutes.txt", encoding="utf-8") as file:
    for line in file:
        if line.startswith("DECISION:"):
            lines.append(line[len("DECISION:") :].strip())
with open("decisions.txt", "w", encoding="utf-8") as file:
    file.write("\n".join(lines) + "\n")
