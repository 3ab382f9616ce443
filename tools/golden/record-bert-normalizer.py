"""Asks Hugging Face's tokenizers what BERT's normaliser and pre-tokeniser do with every code point, and writes
scripts/unicode/bert-normalizer.jsonl, from which scripts/generate-unicode.mjs makes native/engine/bert_tables.gen.cc.
The library's tables are of several old versions of Unicode, so no version gives the same answers.

    pip install tokenizers==0.23.3
    python tools/golden/record-bert-normalizer.py
"""
import json
import pathlib

import tokenizers
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

HANGUL = range(0xAC00, 0xD7A4)
DROPPED, SPACE, ALONE, MARK = 1, 2, 3, 4


def normalizer(strip, lower):
    return BertNormalizer(clean_text=True, handle_chinese_chars=True, strip_accents=strip, lowercase=lower)


def code_points():
    return (code for code in range(0x110000) if not 0xD800 <= code < 0xE000)


def words(normal, code):
    return [word for word, _ in BertPreTokenizer().pre_tokenize_str(normal.normalize_str(f"a{chr(code)}b"))]


def kind_of(code, plain, stripped):
    found = words(plain, code)
    if found == ["ab"]:
        return DROPPED
    if found == ["a", "b"]:
        return SPACE
    if found == ["a", chr(code), "b"]:
        return ALONE
    assert found == [f"a{chr(code)}b"], hex(code)
    return MARK if words(stripped, code) == ["ab"] else 0


def change(normal, code):
    text = normal.normalize_str("a" + chr(code) + "b").replace(" ", "")
    assert text[0] == "a" and text[-1] == "b", hex(code)
    return [ord(character) for character in text[1:-1]]


def ranges(kinds):
    found = []
    for code, kind in kinds:
        if found and found[-1][1] == code - 1 and found[-1][2] == kind:
            found[-1][1] = code
        else:
            found.append([code, code, kind])
    return found


plain, stripped, lowered = normalizer(False, False), normalizer(True, False), normalizer(False, True)
kinds = [(code, kind_of(code, plain, stripped)) for code in code_points()]
kept = [code for code, kind in kinds if kind in (0, ALONE)]
strip = [[code, *change(stripped, code)] for code in kept if code not in HANGUL and change(stripped, code) != [code]]
lower = [[code, *change(lowered, code)] for code in kept if change(lowered, code) != [code]]
rows = {"kinds": ranges([(code, kind) for code, kind in kinds if kind]), "strip": strip, "lower": lower}
lines = [json.dumps({"source": f"PyPI tokenizers {tokenizers.__version__}"})]
lines += [json.dumps({"name": name, "rows": table}, separators=(",", ":")) for name, table in rows.items()]
target = pathlib.Path(__file__).parents[2] / "scripts" / "unicode" / "bert-normalizer.jsonl"
target.write_text("\n".join(lines) + "\n")
print(target, {name: len(table) for name, table in rows.items()})
