counts = {}
with open("app.log", encoding="utf-8") as log:
    for line in log:
        if " ERROR " in line:
            message = line.strip().split(" ERROR ", 1)[1]
            counts[message] = counts.get(message, 0) + 1
most = max(counts, key=lambda message: counts[message])
print(f"{most}: {counts[most]} times")
