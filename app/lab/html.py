"""The report of a lab run as one self-contained HTML page. Pure; any thread."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from app.lab.report import Cell, ModelReport, compared, named, sentence
from app.store.trials import TrialRecord

_STYLE = """
:root{color-scheme:light dark;--line:#c9ced6;--muted:#5c6570}
@media(prefers-color-scheme:dark){:root{--line:#3a414b;--muted:#9aa4b0}}
body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;margin:1rem 0;font-size:14px}
th,td{border:1px solid var(--line);padding:.35rem .6rem;text-align:right;vertical-align:top}
th:first-child,td:first-child{text-align:left}
td small{display:block;color:var(--muted)} .unmeasured{color:var(--muted)}
p.meta{color:var(--muted)}
"""


def to_html(title: str, models: Sequence[ModelReport], trials: Sequence[TrialRecord]) -> str:
    """The whole page: the table of rates, what they cost, and the comparisons in words."""
    capabilities = list(dict.fromkeys(cell.capability for m in models for cell in m.cells))
    machines = ", ".join(dict.fromkeys(trial.machine for trial in trials if trial.machine))
    days = sorted({trial.at[:10] for trial in trials if trial.at})
    span = f"{days[0]} to {days[-1]}" if days else "unknown days"
    body = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="meta">{len(trials)} trials, {escape(span)}, on {escape(machines or "?")}</p>',
        _rates(models, capabilities),
        _costs(models),
        *(f"<p>{escape(text)}</p>" for text in comparisons(models, trials)),
    ]
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{_STYLE}</style></head><body>{''.join(body)}</body></html>\n"
    )


def comparisons(models: Sequence[ModelReport], trials: Sequence[TrialRecord]) -> list[str]:
    """Each pair of models in one way, or ways of one model, in one plain sentence."""
    return [
        sentence(
            _name(one),
            _name(two),
            compared(trials, (one.model_id, one.mode), (two.model_id, two.mode)),
        )
        for number, one in enumerate(models)
        for two in models[number + 1 :]
        if one.model_id == two.model_id or one.mode == two.mode
    ] + costs_of_ways(models)


def costs_of_ways(models: Sequence[ModelReport]) -> list[str]:
    """What each other way of working takes in place of code, model by model."""
    code = {item.model_id: item for item in models if item.mode == "code"}
    said: list[str] = []
    for item in models:
        base = code.get(item.model_id)
        if base is None or item is base or not base.overall.tokens:
            continue
        tokens, own = item.overall.tokens, base.overall.tokens
        said.append(
            f"{_name(item)} took {tokens:,.0f} tokens and {item.overall.seconds:.1f} s a task, "
            f"with code {own:,.0f} tokens and {base.overall.seconds:.1f} s "
            f"({tokens / own:.2f} times the tokens)."
        )
    return said


def _name(item: ModelReport) -> str:
    return named(item.model_id, item.mode)


def _rates(models: Sequence[ModelReport], capabilities: Sequence[str]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in ("model", "all", *capabilities))
    rows: list[str] = []
    for item in models:
        per = {cell.capability: cell for cell in item.cells}
        cells = "".join(_cell(per.get(name)) for name in capabilities)
        rows.append(f"<tr><td>{escape(_name(item))}</td>{_cell(item.overall)}{cells}</tr>")
    return f"<table><tr>{head}</tr>{''.join(rows)}</table>"


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return '<td class="unmeasured">not measured</td>'
    low, high = round(100 * cell.interval.low), round(100 * cell.interval.high)
    return (
        f"<td>{100 * cell.rate:.0f} %<small>{low} to {high} %</small>"
        f"<small>{cell.passed} of {cell.trials}</small></td>"
    )


def _costs(models: Sequence[ModelReport]) -> str:
    names = ("model", "tokens a task", "seconds a task", "USD a task", "programs that ran")
    head = "".join(f"<th>{name}</th>" for name in names)
    rows: list[str] = []
    for item in models:
        all_ = item.overall
        money = "unknown" if all_.money is None else f"{all_.money:.4f}"
        valid = "none written" if all_.valid is None else f"{100 * all_.valid:.0f} %"
        values = (f"{all_.tokens:,.0f}", f"{all_.seconds:.1f}", money, valid)
        columns = "".join(f"<td>{value}</td>" for value in values)
        rows.append(f"<tr><td>{escape(_name(item))}</td>{columns}</tr>")
    return f"<table><tr>{head}</tr>{''.join(rows)}</table>"
