counts = {}
with open("app.log", encoding="utf-8") as log:
    for line in log:
        if " ERROR " in line:
            hour = line[:13] + ":00"
            counts[hour] = counts.get(hour, 0) + 1
with open("errors.csv", "w", encoding="utf-8") as file:
    file.write("hour,errors\n")
    for hour in sorted(counts):
        file.write(f"{hour},{counts[hour]}\n")
