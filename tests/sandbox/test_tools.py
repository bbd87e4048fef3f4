"""Tools: their declarations, how arguments are bound, and how the right one is found."""

from __future__ import annotations

import ast
from typing import Any, TypedDict

import pytest

from sandbox.builtin_tools import builtin_tools
from sandbox.effects import Effect
from sandbox.tools import Planned, Tool, ToolSet, UndeclaredEffectError, tool


class Inner(TypedDict):
    """A part."""

    size: int


class Outer(TypedDict):
    """A whole."""

    name: str
    parts: list[Inner]


def weigh(run: object, path: str, unit: str = "kg", *, exact: bool = False) -> Planned[Outer]:
    """Weigh a thing on the kitchen scale."""
    del run
    value = Outer(name=f"{path}:{unit}:{exact}", parts=[])
    return Planned(do=lambda: value, effects=(Effect(kind="read", path=path),))


def sneaky(run: object) -> Planned[None]:
    """Say one thing and do another."""
    del run
    return Planned(do=lambda: None, effects=(Effect(kind="delete", path="/x"),))


def double(number: int) -> int:
    """Twice a number."""
    return 2 * number


WEIGH = tool(weigh, kinds=["read"], roles={"path": "path"}, cues=["scale"])


def value_of(item: Tool, *args: object, **kwargs: object) -> Any:
    return item.planned(None, args, kwargs).do()


def test_one_declaration_holds_the_types_and_the_words() -> None:
    assert WEIGH.stub.text == (
        "class Inner(TypedDict):\n    size: int\n\n"
        "class Outer(TypedDict):\n    name: str\n    parts: list[Inner]\n\n"
        "async def weigh(path: str, unit: str = 'kg', *, exact: bool = False) -> Outer:\n"
        '    """Weigh a thing on the kitchen scale."""\n    ...'
    )


def test_every_built_in_declaration_is_python_that_says_what_it_does() -> None:
    for item in builtin_tools():
        tree = ast.parse(item.stub.text)
        function = tree.body[-1]
        assert isinstance(function, ast.AsyncFunctionDef)
        assert function.name == item.name
        assert ast.get_docstring(function)
        assert item.roles.keys() == item.signature.parameters.keys()


def test_structures_that_several_tools_share_are_declared_once() -> None:
    tools = builtin_tools()
    both = [item for name in ("fetch_url", "http_request") if (item := tools.get(name))]
    assert tools.declared(both).count("class Reply(TypedDict)") == 1


@pytest.mark.parametrize(
    ("args", "kwargs", "value"),
    [
        (("a",), {}, "a:kg:False"),
        (("a", "g", True), {}, "a:g:True"),
        ((), {"path": "a", "exact": True}, "a:kg:True"),
        (("a",), {"unt": "g"}, "a:g:False"),
        ((), {"filename": "a"}, "a:kg:False"),
        ((), {"pth": "a", "units": "t"}, "a:t:False"),
    ],
)
def test_arguments_are_bound_and_near_names_corrected(
    args: tuple[object, ...], kwargs: dict[str, object], value: str
) -> None:
    assert value_of(WEIGH, *args, **kwargs)["name"] == value


@pytest.mark.parametrize(
    ("args", "kwargs", "problem"),
    [
        ((), {}, "needs the argument 'path'"),
        (("a", "b", True, 4), {}, "takes at most 3 arguments"),
        (("a",), {"path": "b"}, "got the argument 'path' twice"),
        (("a",), {"colour": "red"}, r"has no argument 'colour'\. It is declared as: async def"),
        ((3,), {}, "cannot take int as 'path'"),
        (("a",), {"exact": 1}, "cannot take int as 'exact'"),
    ],
)
def test_what_cannot_be_bound_is_answered_with_the_declaration(
    args: tuple[object, ...], kwargs: dict[str, object], problem: str
) -> None:
    with pytest.raises(TypeError, match=problem):
        WEIGH.planned(None, args, kwargs)


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        ({"a": "x"}, True),
        (["x"], True),
        (None, True),
        ({"a": 1}, False),
        ([1], False),
        ("x", False),
        (1.5, False),
    ],
)
def test_nested_arguments_are_checked(value: object, fits: bool) -> None:
    item = builtin_tools().get("sql")
    assert item is not None
    if fits:
        item.checked({"tables": value})
    else:
        with pytest.raises(TypeError, match="as 'tables'"):
            item.checked({"tables": value})


def test_a_tool_with_an_effect_that_it_does_not_declare_ends_the_run() -> None:
    with pytest.raises(UndeclaredEffectError, match="sneaky planned delete"):
        value_of(tool(sneaky, kinds=["read"]))


def test_a_plain_function_is_a_tool_and_asks_only_when_it_does_something() -> None:
    pure, sends = tool(double), tool(double, kinds=["request"], name="post_double")
    assert value_of(pure, 4) == 8
    assert pure.planned(None, [4], {}).effects == ()
    assert sends.planned(None, [4], {}).effects == (Effect(kind="tool", path="post_double"),)
    assert pure.stub.head == "async def double(number: int) -> int:"


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two tools named double"):
        ToolSet([tool(double), tool(double)])


def test_a_role_for_an_argument_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="no argument 'nmber'"):
        tool(double, roles={"nmber": "data"})


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("find lines in files", "find_text"),
        ("read a pdf", "read_document"),
        ("the date a photo was taken", "image_info"),
        ("join two csv tables", "sql"),
        ("post to a web service", "http_request"),
        ("download a web page", "fetch_url"),
        ("fetch_url", "fetch_url"),
    ],
)
def test_a_query_in_plain_words_finds_the_tool(query: str, name: str) -> None:
    assert builtin_tools().search(query)[0].name == name


def test_a_query_about_nothing_finds_nothing() -> None:
    assert builtin_tools().search("zzz qqq") == []
    assert builtin_tools().search("") == []


@pytest.mark.parametrize(
    ("request_text", "names"),
    [
        ("Rename these 200 photos by the date taken into YYYY-MM folders.", ["image_info"]),
        ("Sort my photos by when they were taken.", ["image_info"]),
        ("Summarise report.pdf into summary.txt", ["read_document"]),
        ("How many PDF files are there?", []),
        ("The date is in the name: IMG_1.jpg was taken on 15 March. Copy all to backup.", []),
        ("Save https://example.org/data.csv as data.csv", ["fetch_url"]),
        ("Use sql to sum the amounts per region", ["sql"]),
        ("Move the files that are bigger than 1 MB into a folder called big.", []),
        ("Sort Downloads by type.", []),
        ("Find exact duplicates, keep the oldest.", []),
        ("Change api.old to api.new in all configs.", []),
        ("Merge these 12 CSV files.", []),
        ("Count the words in every text file.", []),
        ("From this log: 95th-percentile latency per endpoint.", []),
    ],
)
def test_only_a_request_that_asks_for_a_tool_gets_one(request_text: str, names: list[str]) -> None:
    assert [item.name for item in builtin_tools().likely(request_text)] == names


def crowd(count: int) -> ToolSet:
    """Many tools of several areas, each with two words of its own."""
    areas = ["calendar", "ticket", "invoice", "customer", "server", "document", "payment"]
    verbs = ["create", "list", "update", "archive", "assign", "export", "merge"]

    def made(number: int) -> Tool:
        def function(identifier: str) -> str:
            return identifier

        area, verb = areas[number % 7], verbs[number // 7 % 7]
        function.__doc__ = f"{verb.title()} the {area} number{number} of the team."
        return tool(function, name=f"{verb}_{area}_{number}")

    return ToolSet([*map(made, range(count)), WEIGH])


def test_one_of_a_thousand_tools_is_found_and_few_are_declared() -> None:
    tools = crowd(1_000)
    assert tools.search("number512 of the team")[0].name.endswith("_512")
    assert tools.search("weigh on the kitchen scale")[0] is WEIGH
    likely = tools.likely("Archive the invoice number128, please", limit=5)
    assert likely[0].name.endswith("_128")
    assert len(likely) <= 5
    assert len(tools.declared(tools.search("invoice", limit=1_000))) < 1_500 * 4


def test_a_misspelt_name_is_corrected_only_where_one_tool_fits_the_arguments() -> None:
    def read_item(name: str) -> str:
        return name

    def read_items(first: str, second: str) -> str:
        return first + second

    tools = ToolSet([tool(read_item), tool(read_items)])
    one, two = tools.nearest("read_itm", 1, []), tools.nearest("read_itm", 2, [])
    assert one is not None
    assert two is not None
    assert (one.name, two.name) == ("read_item", "read_items")
    assert tools.nearest("read_itm", 3, []) is None
    assert tools.nearest("frobnicate", 1, []) is None
    assert tools.hint("read_itm") == "Did you mean the tool 'read_item'?"


def test_an_unknown_name_has_no_declaration_but_a_hint() -> None:
    with pytest.raises(KeyError, match="Did you mean the tool 'fetch_url'"):
        builtin_tools().stub("fetchurl")
