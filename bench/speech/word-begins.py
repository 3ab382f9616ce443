"""Speech with the begins of its words, by libespeak-ng: {voice, speed, pitch, text} per line of stdin, a line of JSON each on stdout."""
import base64
import ctypes
import json
import sys

RETRIEVAL, POSITION_CHARACTER, UTF8 = 2, 1, 1
RATE, PITCH = 1, 3
WORD = 1


class Event(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int),
        ("identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("audio_position", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("id", ctypes.c_char * 8),
    ]


library = ctypes.CDLL("libespeak-ng.so.1")
rate = library.espeak_Initialize(RETRIEVAL, 0, None, 0)
pieces, words = [], []


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(Event))
def heard(samples, count, events):
    if samples:
        pieces.append(ctypes.string_at(samples, 2 * count))
    i = 0
    while events[i].type != 0:
        if events[i].type == WORD:
            words.append((events[i].text_position - 1, events[i].length, events[i].audio_position))
        i += 1
    return 0


library.espeak_SetSynthCallback(heard)
for line in sys.stdin:
    say = json.loads(line)
    pieces.clear()
    words.clear()
    library.espeak_SetVoiceByName(say["voice"].encode())
    library.espeak_SetParameter(RATE, say["speed"], 0)
    library.espeak_SetParameter(PITCH, say["pitch"], 0)
    text = say["text"].encode()
    library.espeak_Synth(text, len(text) + 1, 0, POSITION_CHARACTER, 0, UTF8, None, None)
    found = [{"text": say["text"][at : at + length], "beginMs": begin} for at, length, begin in words]
    samples = base64.b64encode(b"".join(pieces)).decode()
    print(json.dumps({"rate": rate, "samples": samples, "words": found}), flush=True)
