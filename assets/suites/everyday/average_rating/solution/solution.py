import csv

with open("reviews.csv", newline="", encoding="utf-8") as source:
    ratings = [float(row["rating"]) for row in csv.DictReader(source)]
print(f"The average rating is {sum(ratings) / len(ratings):.2f}.")
