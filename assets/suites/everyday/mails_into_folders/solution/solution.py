import email
from email.utils import parseaddr
from pathlib import Path

for path in list(Path(".").glob("*.eml")):
    mail = email.message_from_string(path.read_text(encoding="utf-8"))
    domain = parseaddr(mail["From"])[1].split("@")[1]
    Path(domain).mkdir(exist_ok=True)
    path.rename(Path(domain) / path.name)
