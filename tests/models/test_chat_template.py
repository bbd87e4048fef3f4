"""Chat templates of files from anywhere: bounded, sandboxed, repaired when they cannot be read."""

from __future__ import annotations

import pytest
from jinja2 import TemplateError

from models import chat_template
from models.chat_template import ChatTemplate

ROWS = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello {{ 1 }}"}]


def template(text: str) -> ChatTemplate:
    return ChatTemplate(text, bos="<s>", eos="</s>")


def test_a_template_gets_messages_and_tokens() -> None:
    text = (
        "{{ bos_token }}{% for m in messages %}[{{ m.role|upper }}] {{ m['content'] | trim }}\n"
        "{% endfor %}{% if add_generation_prompt %}[A]{% endif %}{{ eos_token }}"
    )
    said = template(text).render(ROWS)
    assert said == "<s>[SYSTEM] Be brief.\n[USER] Hello {{ 1 }}\n[A]</s>"


@pytest.mark.parametrize("text", ["", "  \n", "{% for m in messages %}", "{{ messages", "{% x %}"])
def test_a_missing_or_broken_template_is_replaced_and_it_is_said(text: str) -> None:
    made = template(text)
    assert made.repaired
    assert made.render(ROWS).endswith(
        "<|im_start|>user\nHello {{ 1 }}<|im_end|>\n<|im_start|>assistant\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
        "{{ messages.__class__.__base__ }}",
        "{{ messages.append({'role': 'user', 'content': 'x'}) }}",
        "{% include '/etc/passwd' %}",
        "{% import '/etc/passwd' as x %}",
        "{{ 'a' * 1000000000000 }}",
        "{{ 1000000000000 * 'a' }}",
        "{{ [1] * 1000000000000 }}",
        "{{ 10 ** 10 ** 10 }}",
        "{{ '%1000000000000d' % 1 }}",
        "{{ 'a'.ljust(1000000000000) }}",
        "{{ 'a'|center(1000000000000) }}",
        "{{ '{:>1000000000000}'.format(1) }}",
        "{% for i in range(1000000000) %}{% endfor %}",
        "{{ raise_exception('no') }}",
        "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
        "{{ 1 / 0 }}",
        "{{ messages[99].content.x }}",
    ],
)
def test_a_hostile_template_is_refused_and_reads_nothing(text: str) -> None:
    made = template(text)
    if made.repaired:  # not even read
        return
    try:
        said = made.render(ROWS)
    except (TemplateError, ValueError):
        return
    assert len(said) < 100
    assert "root:" not in said
    assert "class" not in said


def test_a_template_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_template, "_RENDER_S", 0.2)
    loop = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
    made = template(loop)
    for _ in range(2):
        with pytest.raises(ValueError, match="too long"):
            made.render(ROWS)
    # And nothing of it is left to hit what comes next.
    assert template("fine").render(ROWS) == "fine"


def test_a_text_that_grows_beyond_use_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_template, "_MOST_CHARS", 10_000)
    with pytest.raises(ValueError, match="too long"):
        template("{% for a in range(9999) %}{{ 'many words' }}{% endfor %}").render(ROWS)


def test_what_known_templates_use_is_there() -> None:
    text = (
        "{%- set ns = namespace(n=0) -%}{% for m in messages %}{% if loop.first %}{% continue %}"
        "{% endif %}{% generation %}{{ m | tojson }}{% endgeneration %}{% set ns.n = ns.n + 1 %}"
        "{% break %}{% endfor %}{{ ns.n }}{{ strftime_now('%Y')|length }}{{ 'a\nb'|indent(2) }}"
    )
    said = template(text).render(ROWS)
    assert said == '{"role": "user", "content": "Hello {{ 1 }}"}14a\n  b'
