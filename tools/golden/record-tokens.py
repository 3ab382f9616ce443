"""Records which tokens the reference gives texts and generated strings: Hugging Face's WordPiece or Unigram, the latter
after SentencePiece's normalisation (Hugging Face's takes the first match in a cluster of characters, not the longest).
SentencePiece's own segmentation adds scores in 32 bits, where near ties fall either way. For test/models/word-pieces.slow.test.ts and test/models/unigram.test.ts.

    pip install tokenizers==0.23.3 sentencepiece==0.2.3 protobuf
    python tools/golden/record-tokens.py MODEL.gguf FOLDER_OF_TEXTS > test/models/word-pieces.golden.json

The texts are the fields "text" and "title" of all .jsonl.gz files of the folder; of a file of more than `SAMPLE` lines,
evenly spaced ones unless --all is given. A digest covers `BLOCK` lines: SHA-256, 8 bytes, of the ids as little-endian
32-bit integers, each text's preceded by their number.
"""
import gzip
import hashlib
import json
import pathlib
import struct
import sys


BLOCK = 1000
SAMPLE = 30_000
SEED = 20260112
UNKNOWN, CONTROL = 2, 3  # kinds of tokens of a unigram vocabulary
STRINGS_PER_SCRIPT = 100
# Script (or what a string may hold besides one): first and last code point.
SCRIPTS = {
    "ASCII": (0x01, 0x7F), "Latin": (0x80, 0x24F), "IPA": (0x250, 0x2FF), "marks": (0x300, 0x36F), "Greek": (0x370, 0x3FF),
    "Cyrillic": (0x400, 0x52F), "Armenian": (0x530, 0x58F), "Hebrew": (0x590, 0x5FF), "Arabic": (0x600, 0x6FF),
    "Syriac": (0x700, 0x74F), "Thaana": (0x780, 0x7BF), "NKo": (0x7C0, 0x7FF), "Devanagari": (0x900, 0x97F),
    "Bengali": (0x980, 0x9FF), "Gurmukhi": (0xA00, 0xA7F), "Gujarati": (0xA80, 0xAFF), "Oriya": (0xB00, 0xB7F),
    "Tamil": (0xB80, 0xBFF), "Telugu": (0xC00, 0xC7F), "Kannada": (0xC80, 0xCFF), "Malayalam": (0xD00, 0xD7F),
    "Sinhala": (0xD80, 0xDFF), "Thai": (0xE00, 0xE7F), "Lao": (0xE80, 0xEFF), "Tibetan": (0xF00, 0xFFF),
    "Myanmar": (0x1000, 0x109F), "Georgian": (0x10A0, 0x10FF), "Hangul Jamo": (0x1100, 0x11FF), "Ethiopic": (0x1200, 0x137F),
    "Cherokee": (0x13A0, 0x13FF), "Canadian": (0x1400, 0x167F), "Ogham": (0x1680, 0x169F), "Khmer": (0x1780, 0x17FF),
    "Mongolian": (0x1800, 0x18AF), "Balinese": (0x1B00, 0x1B7F), "Latin additional": (0x1E00, 0x1EFF),
    "Greek extended": (0x1F00, 0x1FFF), "punctuation": (0x2000, 0x206F), "symbols": (0x2070, 0x2BFF), "Coptic": (0x2C80, 0x2CFF),
    "CJK marks": (0x2E80, 0x303F), "Kana": (0x3040, 0x30FF), "Bopomofo": (0x3100, 0x312F), "squared": (0x3200, 0x33FF),
    "Han": (0x3400, 0x9FFF), "Yi": (0xA000, 0xA4CF), "Hangul": (0xAC00, 0xD7A3), "Javanese": (0xA980, 0xA9DF),
    "compatibility": (0xF900, 0xFFFD), "Gothic": (0x10330, 0x1034F), "Deseret": (0x10400, 0x1044F), "Brahmi": (0x11000, 0x1107F),
    "music": (0x1D100, 0x1D1FF), "mathematics": (0x1D400, 0x1D7FF), "emoji": (0x1F000, 0x1FAFF), "Han B": (0x20000, 0x2FA1F),
    "any": (0x01, 0x10FFFD),
}


def metadata(path):
    """The values of a GGUF file by key."""
    data = path.read_bytes()
    at = 24
    sizes = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}

    def take(form):
        nonlocal at
        (value,) = struct.unpack_from("<" + form, data, at)
        at += struct.calcsize(form)
        return value

    def text():
        nonlocal at
        size = take("Q")
        at += size
        return data[at - size : at]

    def value(kind):
        nonlocal at
        if kind == 8:
            return text()
        if kind != 9:
            return take(sizes[kind])
        element, count = take("I"), take("Q")
        if element == 8:
            return [text() for _ in range(count)]
        width = struct.calcsize(sizes[element])
        at += width * count
        return list(struct.unpack_from(f"<{count}{sizes[element]}", data, at - width * count))

    (count,) = struct.unpack_from("<Q", data, 16)
    return {text().decode(): value(take("I")) for _ in range(count)}


def word_piece(facts):
    """Returns a function from texts to lists of ids."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer

    pieces = {}
    for token, piece in enumerate(facts["tokenizer.ggml.tokens"]):
        piece = piece.decode()
        special = piece.startswith("[") and piece.endswith("]") and len(piece) > 2
        piece = piece if special else piece[1:] if piece[0] == "\u2581" else "##" + piece
        pieces.setdefault(piece, token)
    tokenizer = Tokenizer(WordPiece(pieces, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    return lambda texts: [encoding.ids for encoding in tokenizer.encode_batch(texts, add_special_tokens=False)]


def unigram(facts):
    """The same for the pieces, scores and map of characters of a unigram model."""
    from tokenizers import Tokenizer
    from tokenizers.models import Unigram
    from sentencepiece import SentencePieceProcessor
    from sentencepiece.sentencepiece_model_pb2 import ModelProto

    key = "tokenizer.ggml.{}".format
    unknown = facts[key("unknown_token_id")]
    proto = ModelProto()
    proto.trainer_spec.model_type = 1
    proto.trainer_spec.unk_id = unknown
    proto.trainer_spec.bos_id = facts[key("bos_token_id")]
    proto.trainer_spec.eos_id = facts[key("eos_token_id")]
    proto.trainer_spec.pad_id = facts[key("padding_token_id")]
    proto.normalizer_spec.precompiled_charsmap = bytes(facts[key("precompiled_charsmap")])
    proto.normalizer_spec.add_dummy_prefix = facts[key("add_space_prefix")]
    proto.normalizer_spec.remove_extra_whitespaces = facts[key("remove_extra_whitespaces")]
    for text, score, kind in zip(facts[key("tokens")], facts[key("scores")], facts[key("token_type")]):
        proto.pieces.add(piece=text.decode(), score=score, type=kind)
    processor = SentencePieceProcessor(model_proto=proto.SerializeToString())
    pieces = []
    for token, (text, score, kind) in enumerate(zip(facts[key("tokens")], facts[key("scores")], facts[key("token_type")])):
        # Spellings of special tokens in a text are plain text.
        pieces.append((f"\U0010fffe{token}" if kind in (UNKNOWN, CONTROL) else text.decode(), score))
    tokenizer = Tokenizer(Unigram(pieces, unknown))

    def tokens(texts):
        normal = [processor.normalize(text) for text in texts]
        return [encoding.ids for encoding in tokenizer.encode_batch(normal, add_special_tokens=False)]

    return tokens


def strings():
    """Strings of letters of one script, with some ASCII, made by a linear congruential generator."""
    state = SEED

    def draw(bound):
        nonlocal state
        state = (state * 1664525 + 1013904223) % 2**32
        return (state >> 8) % bound

    for first, last in SCRIPTS.values():
        for _ in range(STRINGS_PER_SCRIPT):
            text = []
            for _ in range(draw(40)):
                low, high = SCRIPTS["ASCII"] if draw(6) == 0 else SCRIPTS["marks"] if draw(12) == 0 else (first, last)
                code = low + draw(high - low + 1)
                text.append(" " if 0xD800 <= code < 0xE000 else chr(code))
            yield "".join(text)


def lines(path, every):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for number, line in enumerate(file):
            if number % every == 0:
                record = json.loads(line)
                yield f"{record.get('title') or ''} {record.get('text') or ''}"


def digests(tokenize, texts):
    found, block = [], []

    def flush():
        digest = hashlib.sha256()
        for ids in tokenize(block):
            digest.update(struct.pack(f"<{len(ids) + 1}I", len(ids), *ids))
        found.append(digest.hexdigest()[:16])
        block.clear()

    for text in texts:
        block.append(text)
        if len(block) == BLOCK:
            flush()
    if block:
        flush()
    return found


model, folder = map(pathlib.Path, sys.argv[1:3])
facts = metadata(model)
tokenize = (unigram if facts["tokenizer.ggml.model"] == b"t5" else word_piece)(facts)
files = {}
for path in sorted(folder.rglob("*.jsonl.gz")):
    count = sum(1 for _ in gzip.open(path, "rb"))
    every = 1 if "--all" in sys.argv else -(-count // SAMPLE)
    files[path.relative_to(folder).as_posix()] = {"every": every, "digests": digests(tokenize, lines(path, every))}
golden = {
    "block": BLOCK,
    "seed": SEED,
    "strings_per_script": STRINGS_PER_SCRIPT,
    "scripts": SCRIPTS,
    "strings": digests(tokenize, strings()),
    "files": files,
}
json.dump(golden, sys.stdout, indent=1)
