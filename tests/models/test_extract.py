"""Which text of a reply is the program: a table, and what must hold for any reply."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.extract import extract_program

CODE = "import os\nprint(os.listdir('.'))"
PROGRAM = CODE + "\n"

FOUND = {
    "a python fence": (f"```python\n{CODE}\n```", PROGRAM),
    "a fence without a tag": (f"```\n{CODE}\n```", PROGRAM),
    "the tag py": (f"```py\n{CODE}\n```", PROGRAM),
    "the tag in capitals": (f"```Python\n{CODE}\n```", PROGRAM),
    "a space before the tag": (f"``` python\n{CODE}\n```", PROGRAM),
    "attributes after the tag": (f'```python title="a.py"\n{CODE}\n```', PROGRAM),
    "a tilde fence": (f"~~~python\n{CODE}\n~~~", PROGRAM),
    "four backticks": (f"````python\n{CODE}\n````", PROGRAM),
    "prose around": (f"Sure! Here it is:\n\n```python\n{CODE}\n```\nIt lists files.", PROGRAM),
    "never closed": (f"```python\n{CODE}", PROGRAM),
    "never closed, with prose before": (f"Here:\n```python\n{CODE}\n", PROGRAM),
    "windows line ends": (f"```python\r\n{CODE}\r\n```".replace("\n", "\r\n"), PROGRAM),
    "an indented block": (
        "1. Do:\n   ```python\n   import os\n   print(os.listdir('.'))\n   ```",
        PROGRAM,
    ),
    "code that is indented as a whole": (
        "```python\n    import os\n    print(os.listdir('.'))\n```",
        PROGRAM,
    ),
    "interpreter prompts": (
        "```python\n>>> import os\n>>> print(os.listdir('.'))\n['a']\n```",
        PROGRAM,
    ),
    "interpreter prompts with a loop": (
        "```\n>>> for x in range(3):\n...     print(x)\n0\n1\n```",
        "for x in range(3):\n    print(x)\n",
    ),
    "one line": ("```python print(1 + 2)```", "print(1 + 2)\n"),
    "one line without a tag": ("```print(1 + 2)```", "print(1 + 2)\n"),
    "a bash block before": (f"```bash\npip install x\n```\n```python\n{CODE}\n```", PROGRAM),
    "a bash block after": (f"```python\n{CODE}\n```\nRun:\n```sh\npython a.py\n```", PROGRAM),
    "an output block after": (f"```python\n{CODE}\n```\nOutput:\n```\na.txt\nb.txt\n```", PROGRAM),
    "a json block after": (f'```python\n{CODE}\n```\n```json\n{{"a": 1}}\n```', PROGRAM),
    "an untagged json block after": (f'```python\n{CODE}\n```\n```\n{{"a": 1}}\n```', PROGRAM),
    "pip in a python block": (f"```python\n!pip install x\n```\n```python\n{CODE}\n```", PROGRAM),
    "an alternative": (
        f"```python\nprint(1)\n```\nAlternatively:\n```python\n{CODE}\n```",
        PROGRAM,
    ),
    "a corrected version": (
        f"```python\nprint(1)\n```\nHere is the corrected version:\n```python\n{CODE}\n```",
        PROGRAM,
    ),
    "the same block twice": (
        f"```python\n{CODE}\n```\nThen again:\n```python\n{CODE}\n```",
        PROGRAM,
    ),
    "a function, then its use": (
        "First define it:\n```python\ndef f(x):\n    return x + 1\n```\nUse:\n"
        "```python\nprint(f(1))\n```",
        "def f(x):\n    return x + 1\n\nprint(f(1))\n",
    ),
    "an import, a function, then its use": (
        "```python\nimport os\n```\n```python\ndef f():\n    return os.listdir('.')\n```\n"
        "```python\nprint(f())\n```",
        "import os\n\ndef f():\n    return os.listdir('.')\n\nprint(f())\n",
    ),
    "steps that go on": (
        "```python\nimport os\nos.makedirs('a')\n```\nThen move the file:\n"
        "```python\nimport shutil\nshutil.move('b', 'a/b')\n```",
        "import os\nos.makedirs('a')\n\nimport shutil\nshutil.move('b', 'a/b')\n",
    ),
    "a program that is cut off": (
        "```python\nimport os\nfor x in os.listdir(",
        "import os\nfor x in os.listdir(\n",
    ),
    "a wrong program stays the program": ("```python\nprint('a'\n```", "print('a'\n"),
    "no fence at all": (CODE, PROGRAM),
    "no fence, prose before": (f"Here is the program:\n\n{CODE}", PROGRAM),
    "no fence, prose after": (f"{CODE}\n\nThis lists the files.", PROGRAM),
    "no fence, a tag alone": (f"python\n{CODE}", PROGRAM),
    "no fence, prompts": (">>> import os\n>>> print(os.listdir('.'))", PROGRAM),
    "a closing fence only": (f"{CODE}\n```", PROGRAM),
    "a fence inside a string": (
        "```python\ntext = '''\n```\ncode\n```\n'''\nprint(text)\n```\nDone.",
        "text = '''\n```\ncode\n```\n'''\nprint(text)\n",
    ),
    "smart quotes in a string": (
        "```python\nprint('\u201cwell\u201d')\n```",
        "print('\u201cwell\u201d')\n",
    ),
    "smart quotes as quotes": ("```python\nprint(\u201cwell\u201d)\n```", 'print("well")\n'),
    "thinking before": (
        f"<think>```python\nprint(0)\n```</think>\n```python\n{CODE}\n```",
        PROGRAM,
    ),
    "await at the top": (
        "```python\nx = await fetch('a')\nprint(x)\n```",
        "x = await fetch('a')\nprint(x)\n",
    ),
    "only assignments in python's name": ("```python\nx = 1\n```", "x = 1\n"),
    "a closing fence at the end of a line": (f"```python\n{CODE}```\nThat is it.", PROGRAM),
    "code beside the tag": ("```python import os\nprint(os.listdir('.'))\n```", PROGRAM),
    "code in the tag's place": ("```import os\nprint(os.listdir('.'))\n```", PROGRAM),
    "tabs": ("```python\nfor x in 'ab':\n\tprint(x)\n```", "for x in 'ab':\n    print(x)\n"),
}

NOT_FOUND = {
    "nothing": "",
    "blank": "  \n\n ",
    "prose": "There are three files in the folder.",
    "prose of one word": "Done",
    "prose with a call in it": "Use os.listdir(path) to see the files.",
    "prose with code in it": "I used `print(x)` for that.",
    "several lines of prose": "Hello.\nThe files are:\n- a.txt\n- b.txt\nThat is all.",
    "json": '```json\n{"name": "x", "n": [1, 2]}\n```',
    "json without a tag": '```\n{"name": "x", "n": [1, 2]}\n```',
    "json in python's name": '```python\n{"name": "x"}\n```',
    "json without a fence": '{"name": "x", "n": [1, 2]}',
    "csv": "```csv\nname,size\na,1\n```",
    "csv without a tag": "```\nname,size\na,1\n```",
    "a listing": "```\ndocs/report\ndocs/notes\n```",
    "a number": "42",
    "a sum in words": "3 - 1",
    "bash": "```bash\nls -la\n```",
    "bash that parses as Python": "```bash\nprint\n```",
    "an empty fence": "```python\n```",
    "a fence that was only begun": "Let me see\n```python",
    "settings": '```\nname = "x"\nsize = 3\n```',
    "thinking without an end": "<think>I could use ```python\nprint(1)\n```",
}


@pytest.mark.parametrize(("reply", "program"), FOUND.values(), ids=FOUND.keys())
def test_the_program_is_found(reply, program):
    extracted = extract_program(reply)
    assert extracted.found
    assert extracted.source == program


@pytest.mark.parametrize("reply", NOT_FOUND.values(), ids=NOT_FOUND.keys())
def test_what_is_no_program_is_not_taken_for_one(reply):
    extracted = extract_program(reply)
    assert (extracted.found, extracted.source) == (False, "")


def test_prose_around_a_program_is_kept_as_prose():
    extracted = extract_program(f"First.\n\n```python\n{CODE}\n```\n\nLast.")
    assert "First." in extracted.prose
    assert "Last." in extracted.prose
    assert "import" not in extracted.prose


@pytest.mark.parametrize("opening", ["```python\nimport os\n", "```python import os\n"])
def test_prose_after_a_fence_that_ends_a_line_is_kept(opening):
    extracted = extract_program(f"{opening}print(os.listdir('.'))```\nThat is it.")
    assert (extracted.source, extracted.prose) == (PROGRAM, "That is it.")


def test_a_reply_without_a_program_is_prose_as_a_whole():
    reply = 'The answer:\n```json\n{"a": 1}\n```'
    assert extract_program(reply).prose == reply


@given(st.text(max_size=300))
def test_any_text_gives_an_answer_that_agrees_with_itself(text):
    extracted = extract_program(text)
    assert extracted.found == bool(extracted.source)


@given(st.text(alphabet="`~\n >.python()=1,{}\"'", max_size=80))
def test_any_mess_of_fences_gives_an_answer(text):
    extracted = extract_program(text)
    assert extracted.found == bool(extracted.source)


@given(
    before=st.text(alphabet="abc .,\n", max_size=60),
    after=st.text(alphabet="abc .,\n", max_size=60),
    lines=st.lists(st.sampled_from(["x = 1", "print(x)", "import os", "y = [1]"]), min_size=1),
)
def test_a_fenced_program_comes_out_as_it_went_in(before, after, lines):
    code = "\n".join(["import os", *lines])
    extracted = extract_program(f"{before}\n```python\n{code}\n```\n{after}")
    assert ast.dump(ast.parse(extracted.source)) == ast.dump(ast.parse(code))
