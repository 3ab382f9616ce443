"""Records how jinja2 evaluates expressions about texts beyond ASCII, and how it shows other values: test/native/lm/expressions.expected;
and how it renders template-expressions.txt and template-bodies.txt: test/native/lm/bodies.expected.

python3 tools/golden/record-expressions.py    needs jinja2
"""
import json
import pathlib
import re

import jinja2
import jinja2.ext

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


MESSAGES = [
    ("system", "Be kind."),
    ("user", 'Who é日本 are "you"?'),
    ("assistant", "A smith.\n\n"),
    ("user", " Sword! "),
]


def escaped(text):
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")


def unescaped(text):
    return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t"}.get(match[1], match[1]), text)


def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


class Generation(jinja2.ext.Extension):
    """{% generation %}, which marks what the model says."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("show"), [], [], body).set_lineno(line)

    def show(self, caller):
        return caller()


def record_bodies(environment, tests):
    here = pathlib.Path(__file__).parent
    bodies = ["[{{ %s }}]" % line for line in (here / "template-expressions.txt").read_text("utf-8").splitlines()]
    bodies += [unescaped(line) for line in (here / "template-bodies.txt").read_text("utf-8").splitlines()]
    lines = []
    for body in bodies:
        messages = [{"role": role, "content": content} for role, content in MESSAGES]
        # The letters keep the white space at both ends.
        result = environment.from_string("X" + body + "X").render(
            messages=messages, bos_token="<s>", eos_token="</s>", add_generation_prompt=True
        )
        lines.append(escaped(body) + "\t" + escaped(result))
    (tests / "bodies.expected").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main():
    # As transformers has it, but for the sandbox.
    environment = jinja2.Environment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols", Generation]
    )
    environment.filters["tojson"] = tojson
    tests = pathlib.Path(__file__).parents[2] / "test/native/lm"
    record_bodies(environment, tests)
    lines = []
    for texts, expressions in [(TEXTS, EXPRESSIONS), (SHOWN_TEXTS, SHOWN)]:
        for text in texts:
            for expression in expressions:
                result = environment.from_string("[{{ %s }}]" % expression).render(t=text)
                lines.append("\t".join([expression, escaped(text), escaped(result)]))
    (tests / "expressions.expected").write_text("\n".join(lines) + "\n", encoding="utf-8")


main()
