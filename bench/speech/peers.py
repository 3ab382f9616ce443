"""Peers of speech in Python, by lines of JSON: one request a line on stdin, one reply a line on stdout.

Audio is a file of 32-bit floats, mono, 16 kHz. Times are seconds: `cpu` of the whole process, `wall` of the call.
"""

import json
import sys
import time

import numpy as np

WINDOW = 512
CONTEXT = 64
RATE = 16000
loaded = {}


def samples_of(path):
    return np.fromfile(path, dtype=np.float32)


def silero_onnx(request):
    """The probability of each window, with the 64 samples of context that the ONNX model wants."""
    import onnxruntime

    key = ("onnx", request["model"])
    if key not in loaded:
        options = onnxruntime.SessionOptions()
        options.inter_op_num_threads = options.intra_op_num_threads = 1
        loaded[key] = onnxruntime.InferenceSession(request["model"], options, providers=["CPUExecutionProvider"])
    session = loaded[key]
    samples = samples_of(request["file"])
    state = np.zeros((2, 1, 128), dtype=np.float32)
    context = np.zeros(CONTEXT, dtype=np.float32)
    probabilities = []
    for at in range(0, len(samples), WINDOW):
        window = np.zeros(WINDOW, dtype=np.float32)
        piece = samples[at : at + WINDOW]
        window[: len(piece)] = piece
        given = np.concatenate([context, window])[None, :]
        out, state = session.run(None, {"input": given, "state": state, "sr": np.array(RATE, dtype=np.int64)})
        context = window[-CONTEXT:]
        probabilities.append(float(out[0][0]))
    return {"probabilities": probabilities}


def sherpa_vad(request):
    """Segments of sherpa-onnx's detector with the thresholds and lengths of the request."""
    import sherpa_onnx

    config = sherpa_onnx.VadModelConfig()
    config.silero_vad.model = request["model"]
    config.silero_vad.threshold = request["threshold"]
    config.silero_vad.min_silence_duration = request["min_silence"]
    config.silero_vad.min_speech_duration = request["min_speech"]
    config.silero_vad.max_speech_duration = 30
    config.sample_rate = RATE
    config.num_threads = 1
    detector = sherpa_onnx.VoiceActivityDetector(config, buffer_size_in_seconds=600)
    samples = samples_of(request["file"])
    segments = []

    def take():
        while not detector.empty():
            begin = detector.front.start
            segments.append([begin / RATE, (begin + len(detector.front.samples)) / RATE])
            detector.pop()

    for at in range(0, len(samples) - WINDOW + 1, WINDOW):
        detector.accept_waveform(samples[at : at + WINDOW])
        take()
    detector.flush()
    take()
    return {"segments": segments}


def faster_whisper(request):
    from faster_whisper import WhisperModel

    key = ("faster-whisper", request["model"], request["type"])
    if key not in loaded:
        loaded[key] = WhisperModel(
            request["model"], device="cpu", compute_type=request["type"], cpu_threads=request["threads"]
        )
    began, spent = time.perf_counter(), time.process_time()
    segments, info = loaded[key].transcribe(
        samples_of(request["file"]),
        language=request.get("language"),
        beam_size=request["beams"],
        initial_prompt=request.get("prompt"),
        condition_on_previous_text=False,
        vad_filter=False,
    )
    found = list(segments)
    return {
        "text": "".join(segment.text for segment in found).strip(),
        "tokens": [token for segment in found for token in segment.tokens],
        "language": info.language,
        "wall": time.perf_counter() - began,
        "cpu": time.process_time() - spent,
    }


def program(request):
    """Runs a program to its end; `cpu` is of the program."""
    import resource
    import subprocess

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    done = subprocess.run(request["args"], capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    said = done.stderr.decode("utf-8", "replace")[-4000:]
    return {"wall": time.perf_counter() - began, "cpu": spent, "said": said}


def which(_):
    """The versions of the packages that are there."""
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for name in ("onnxruntime", "sherpa-onnx", "faster-whisper"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            pass
    return found


calls = {"onnx": silero_onnx, "sherpa": sherpa_vad, "faster-whisper": faster_whisper, "program": program, "versions": which}

for line in sys.stdin:
    asked = json.loads(line)
    start, used = time.perf_counter(), time.process_time()
    try:
        reply = calls[asked["call"]](asked)
        reply.setdefault("wall", time.perf_counter() - start)
        reply.setdefault("cpu", time.process_time() - used)
    except Exception as error:  # the caller names the peer and goes on without it
        reply = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(reply), flush=True)
