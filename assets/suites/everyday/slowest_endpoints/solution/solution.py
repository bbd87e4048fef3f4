import math

times = {}
with open("requests.log", encoding="utf-8") as log:
    for line in log:
        parts = line.split()
        times.setdefault(parts[2], []).append(int(parts[4].replace("ms", "")))
with open("p95.csv", "w", encoding="utf-8") as file:
    file.write("path,p95\n")
    for path in sorted(times):
        values = sorted(times[path])
        file.write(f"{path},{values[math.ceil(0.95 * len(values)) - 1]}\n")
