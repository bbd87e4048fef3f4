"""Invoices, and payments in parts."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import day, person


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    invoices, payments = ["invoice,customer,amount"], ["date,invoice,paid"]
    for number in sorted(random.sample(range(2000, 2999), 10)):
        cents = random.randint(2000, 90000)
        invoices.append(f"{number},{person(random)},{cents / 100:.2f}")
        kind = random.choice(["none", "part", "full", "two parts"]) if number % 2 else "part"
        if kind == "part":
            payments.append(f"{day(random)},{number},{cents // 3 / 100:.2f}")
        elif kind == "full":
            payments.append(f"{day(random)},{number},{cents / 100:.2f}")
        elif kind == "two parts":
            first = cents // 2
            payments.append(f"{day(random)},{number},{first / 100:.2f}")
            payments.append(f"{day(random)},{number},{(cents - first) / 100:.2f}")
    random.shuffle(tail := payments[1:])
    put(folder, "invoices.csv", "\n".join(invoices) + "\n")
    put(folder, "payments.csv", "\n".join([payments[0], *tail]) + "\n")
