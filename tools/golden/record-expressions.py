"""Records how jinja2 evaluates expressions about texts beyond ASCII, and how it shows other values: test/native/lm/expressions.expected.

python3 tools/golden/record-expressions.py    needs jinja2
"""
import pathlib

import jinja2

TEXTS = ["é日本語x", "ΑΣ ΟΔΟΣ", "straße ﬁn", " \u3000a b\u00a0 ", "Ǆ ŉ élan-vital (öl)", "😀a😀", "", "one  two"]
EXPRESSIONS = [
    "t[:2]", "t[:-2]", "t[1:]", "t[-2:]", "t[1:3]", "t[::-1]", "t[::2]", "t[5:1:-2]", "t[1]", "t[-1]", "t|length",
    "t|upper", "t|lower", "t|capitalize", "t|title", "t.upper()", "t.lower()", "t.strip()", "t|trim", "t.lstrip()",
    "t.rstrip()", "t.strip('é😀x ')", "t.split()|length", "t.split()|join('|')", "t.split(' ')|join('|')",
    "t.replace('', '-')", "t.replace('a', 'ä')", "t.startswith('é')", "t.endswith('😀')", "'日' in t",
    "(t ~ t)|length", "t|tojson",
]

SHOWN_TEXTS = ["é日本語x", "it's", 'it\'s "so"', 'a\tb\n\\']
# How values are shown that are no texts.
SHOWN = [
    "[t, none, true, 1.5]", "{'a': t, 'b': [none]}", "(1, t)", "[]", "none", "t ~ none ~ [1] ~ undefined",
    "[t]|string", "none|default('d')", "none|default('d', true)", "[2.0, 0.1]|tojson", "2.0", "0.1 + 0.2", "1 / 3",
    "100000000.0 * 1000000000", "1 / 100000", "-7 % 3", "7 % -3", "-7.5 % 2", "7 // 2", "-7 // 2", "7.5 // 2",
]


def escaped(text):
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")


def main():
    environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True)
    # As transformers defines it.
    import json

    environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
    lines = []
    for texts, expressions in [(TEXTS, EXPRESSIONS), (SHOWN_TEXTS, SHOWN)]:
        for text in texts:
            for expression in expressions:
                result = environment.from_string("[{{ %s }}]" % expression).render(t=text)
                lines.append("\t".join([expression, escaped(text), escaped(result)]))
    path = pathlib.Path(__file__).parents[2] / "test/native/lm/expressions.expected"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


main()
