"""Saved e-mails, some with encoded subjects."""

from email.message import EmailMessage
from pathlib import Path
from random import Random

from task_folder import put
from task_words import DOMAINS, day, person, pick, sentence


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    for number, word in enumerate(pick(random, 6)):
        name = person(random)
        mail = EmailMessage()
        mail["From"] = f"{name} <{name.lower().replace(' ', '.')}@{random.choice(DOMAINS)}>"
        mail["To"] = "office@example.com"
        mail["Date"] = f"{day(random)}T10:00:00"
        mail["Subject"] = f"{'Grüße' if number % 3 == 0 else 'About'} {word} {number}"
        mail.set_content(sentence(random))
        put(folder, f"{word}.eml", mail.as_bytes())
