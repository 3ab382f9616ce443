# peers.py VOCABULARY CASES: as lorekeep_grammar_bench, with xgrammar and llguidance where they can be imported. The
# cases have NAME.json, the schema, and NAME.tokens, the ids of the text. xgrammar imports PyTorch, which the masks do
# not need: without it, arrays of numpy take its place.
import json, sys, time, types
from pathlib import Path

vocabulary = [None if line == '-' else bytes.fromhex(line) for line in Path(sys.argv[1]).read_text().splitlines()]
cases = sorted(Path(sys.argv[2]).glob('*.json'))
now = lambda: 1e6 * time.thread_time()
end = next(i for i, token in enumerate(vocabulary) if token is None)


def report(engine, name, run):
    ids = [int(i) for i in (cases[0].parent / f'{name}.tokens').read_text().split()]
    for number in (1, 2):
        try:
            compile_us, times = run(ids, number)
        except Exception as error:
            print(f'{engine}: {name}: {error}'[:200], file=sys.stderr)
            return
        print(engine, name, number, len(times), f'{compile_us:.1f}', *(f'{t:.1f}' for t in times), sep='\t', flush=True)


def llguidance():
    import llguidance, llguidance.numpy as guidance

    class Tokenizer:
        eos_token_id, bos_token_id = end, None
        tokens = [b'' if token is None else token for token in vocabulary]
        special_token_ids = [i for i, token in enumerate(vocabulary) if token is None]
        by_bytes = {token: i for i, token in enumerate(vocabulary) if token}

        def __call__(self, text):
            data, ids = text if isinstance(text, bytes) else text.encode(), []
            while data:  # greedy, for the start of a text only
                size = next(n for n in range(min(len(data), 32), 0, -1) if data[:n] in self.by_bytes)
                ids.append(self.by_bytes[data[:size]])
                data = data[size:]
            return ids

    tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(Tokenizer()))
    for path in cases:
        schema = path.read_text()

        def run(ids, number):
            begin = now()
            matcher = llguidance.LLMatcher(tokenizer, llguidance.LLMatcher.grammar_from_json_schema(schema))
            if matcher.get_error():
                raise RuntimeError(matcher.get_error())
            compile_us, times, mask = now() - begin, [], guidance.allocate_token_bitmask(1, len(vocabulary))
            for token in ids:
                begin = now()
                guidance.fill_next_token_bitmask(matcher, mask)
                accepted = matcher.consume_token(token)
                times.append(now() - begin)
                if not accepted:
                    raise RuntimeError(f'refuses token {token}')
            return compile_us, times

        report('llguidance', path.stem, run)


def xgrammar():
    import numpy
    import tvm_ffi  # before the stand-in: it looks for PyTorch, too
    try:
        import torch
    except ImportError:
        torch = types.ModuleType('torch')
        torch.int32, torch.Tensor = numpy.int32, numpy.ndarray
        torch.tensor = lambda value, dtype: numpy.array(value, dtype)
        torch.__getattr__ = lambda name: type(name, (), {})
        sys.modules['torch'] = torch
    try:
        import transformers
    except ImportError:
        transformers = types.ModuleType('transformers')
        transformers.__getattr__ = lambda name: type(name, (), {})
        sys.modules['transformers'] = transformers
    import xgrammar

    info = xgrammar.TokenizerInfo([token or b'' for token in vocabulary], stop_token_ids=[end])
    compilers = {}
    for path in cases:
        schema = path.read_text()

        def run(ids, number):
            begin = now()
            # The first pass compiles, the second one finds the grammar in the cache of its compiler.
            compiler = compilers.setdefault(path.stem, xgrammar.GrammarCompiler(info, max_threads=1))
            grammar = compiler.compile_json_schema(schema)
            matcher = xgrammar.GrammarMatcher(grammar)
            compile_us, times = now() - begin, []
            mask = numpy.zeros((1, (len(vocabulary) + 31) // 32), numpy.int32)
            for token in ids:
                begin = now()
                matcher.fill_next_token_bitmask(mask)
                accepted = matcher.accept_token(token)
                times.append(now() - begin)
                if not accepted:
                    raise RuntimeError(f'refuses token {token}')
            return compile_us, times

        report('xgrammar', path.stem, run)


for peer in (llguidance, xgrammar):
    try:
        peer()
    except ImportError as error:
        print(f'{peer.__name__} is not installed: {error}', file=sys.stderr)
