"""What a program cannot have here, and what to use instead.

Owns the words of refusals. They are read by a model: one sentence, with the way that works.
Pure; any thread.
"""

from __future__ import annotations

import ast

from sandbox.dialect_context import Rewriting

_TABLES = "Use the csv and json modules with plain lists and dicts."
_NETWORK = (
    "A program here has no network of its own; use reply = fetch_url(url), with reply['status'] "
    "and reply['text'], for a host that the person has allowed."
)
_DOCUMENT = "Use text = read_document(path) to read it."
_COMMANDS = "Commands cannot be run from a program; use os, pathlib and shutil for files."
_GUI = "Return a text as the answer instead of opening windows."

_IMAGES = (
    "Use info = image_info(path) for info['width'], info['height'] and info['taken'], which is the "
    "EXIF date as '2024-05-01T12:30:00' or None. Images can be moved and copied, not changed."
)

REFUSED_MODULES: dict[str, str] = {
    "pandas": _TABLES,
    "numpy": "Use plain lists, sum(), min(), max(), math and statistics.",
    "openpyxl": "Write a .csv file with the csv module; read with text = read_document(path).",
    "xlrd": _DOCUMENT,
    "docx": _DOCUMENT,
    "pypdf": _DOCUMENT,
    "PyPDF2": _DOCUMENT,
    "pdfplumber": _DOCUMENT,
    "fitz": _DOCUMENT,
    "pdfminer": _DOCUMENT,
    "extract_msg": _DOCUMENT,
    "xlsxwriter": "Write a .csv file with the csv module.",
    "requests": _NETWORK,
    "httpx": _NETWORK,
    "aiohttp": _NETWORK,
    "socket": _NETWORK,
    "ftplib": _NETWORK,
    "smtplib": _NETWORK,
    "urllib.request": _NETWORK,
    "subprocess": _COMMANDS,
    "multiprocessing": "Write a plain loop.",
    "threading": "Write a plain loop.",
    "tkinter": _GUI,
    "matplotlib": _GUI,
    "click": "There are no command line arguments; put the values into the program.",
    "pickle": "Use the json module.",
    "ctypes": "Use ordinary Python.",
    "importlib": "Import modules by their name.",
    "PIL": _IMAGES,
    "exifread": _IMAGES,
    "piexif": _IMAGES,
    "bs4": "Use text = read_document(path) for the text of a page, or the re module on its source.",
    "yaml": "Read the lines of the file yourself, or use json.",
    "dotenv": "Read the lines of the file yourself.",
    "tqdm": "Write the plain loop, without a progress bar.",
    "signal": "Leave it out.",
    "array": "Use a list.",
    "inspect": "Leave it out.",
    "weakref": "Keep the object itself.",
    "chardet": "Try open(path, encoding='utf-8') and then encoding='latin-1'.",
}

REFUSED_FUNCTIONS: dict[str, str] = {
    "os.system": _COMMANDS,
    "os.popen": _COMMANDS,
    "os.startfile": _GUI,
    "os.execv": _COMMANDS,
    "os.fork": _COMMANDS,
    "os.kill": "A program cannot end other programs.",
    "os.symlink": "Links cannot be made; copy the file with shutil.copy2.",
    "os.link": "Links cannot be made; copy the file with shutil.copy2.",
    "os.chown": "Owners cannot be changed.",
    "shutil.chown": "Owners cannot be changed.",
    "shutil.which": _COMMANDS,
    "input": "Nobody can answer while the program runs; put the value into the program.",
    "breakpoint": "Leave it out.",
    "bytearray": "Use bytes: join pieces with b''.join(pieces), or a list of numbers.",
    "memoryview": "Use bytes and slices of them.",
    "__import__": "Import modules by their name at the top.",
}

REFUSED_METHODS: dict[str, str] = {
    "symlink_to": "Links cannot be made; copy the file with shutil.copy2.",
    "hardlink_to": "Links cannot be made; copy the file with shutil.copy2.",
}


def refuse_module(rewriting: Rewriting, node: ast.stmt, module: str) -> None:
    """Raise `ProgramFaultError` when `module` cannot be had and is known."""
    for name in (module, module.split(".")[0]):
        if name in REFUSED_MODULES:
            raise rewriting.refuse(
                node, f"the module {name} is not available", REFUSED_MODULES[name]
            )


def refuse_call(rewriting: Rewriting, node: ast.Call, dotted: str | None) -> None:
    """Raise `ProgramFaultError` when the called function cannot be had."""
    if dotted in REFUSED_FUNCTIONS:
        raise rewriting.refuse(node, f"{dotted}() is not available", REFUSED_FUNCTIONS[dotted])
    if isinstance(node.func, ast.Attribute):
        method = node.func.attr
        if method in REFUSED_METHODS and method not in rewriting.methods:
            raise rewriting.refuse(node, f"{method}() is not available", REFUSED_METHODS[method])
