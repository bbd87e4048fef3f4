"""Saved e-mails from several domains."""

from email.message import EmailMessage
from pathlib import Path
from random import Random

from task_folder import put
from task_words import DOMAINS, person, pick, sentence


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    for word in pick(random, 8):
        name = person(random)
        mail = EmailMessage()
        mail["From"] = f"{name} <{name.lower().replace(' ', '.')}@{random.choice(DOMAINS)}>"
        mail["To"] = f"office@{random.choice(DOMAINS)}"
        mail["Subject"] = sentence(random, 3)
        mail.set_content(f"Please write to info@{random.choice(DOMAINS)}.")
        put(folder, f"{word}.eml", mail.as_bytes())
    put(folder, "readme.txt", "not an e-mail\n")
