"""Draws training batches: (query, passage) pairs of token counts, made from the structure of the corpus.

Kinds of query, each a way in which somebody looks for a passage:
  title      the page's title, its section heading, or both
  claim      one or two sentences of the passage, taken out of it (half of the time)
  keywords   a few of the passage's rarer words, the rarer the likelier
  half       the first half of the passage, the rest being the passage
"""

import numpy as np
import scipy.sparse as sparse

KINDS = ('title', 'claim', 'keywords', 'half')


class PairSampler:
    """Deterministic in its seed. `idf` (per token) steers keywords; sources are drawn by size to the `balance`;
    the share `misspelt` of the queries gets one typing error."""

    def __init__(self, corpus, idf, vocabulary, typist, shares=(0.25, 0.55, 0.1, 0.1), balance=0.7, focus=0.5,
                 misspelt=0.15, seed=1):
        self.corpus, self.idf, self.vocabulary, self.typist, self.misspelt = corpus, idf, vocabulary, typist, misspelt
        self.shares, self.focus = np.array(shares), focus
        self.random = np.random.default_rng(seed)
        order = np.argsort(corpus.source, kind='stable')
        self.members = np.split(order, np.cumsum(np.bincount(corpus.source))[:-1])
        sizes = np.array([len(m) for m in self.members], dtype=float) ** balance
        self.source_share = sizes / sizes.sum()

    def batch(self, size):
        """Two CSR matrices [size, vocabulary] of raw token counts: queries, passages.

        A `focus` share of the batches comes from one source alone, so that its in-batch negatives are on the subject.
        """
        random = self.random
        if random.random() < self.focus:
            source = random.choice(len(self.members), p=self.source_share)
            chosen = random.choice(self.members[source], min(size, len(self.members[source])), replace=False)
        else:
            per_source = random.multinomial(size, self.source_share)
            chosen = np.concatenate([random.choice(m, min(n, len(m)), replace=False)
                                     for m, n in zip(self.members, per_source)])
        kinds = random.choice(len(KINDS), len(chosen), p=self.shares)
        pairs = [self._pair(chunk, KINDS[kind]) for chunk, kind in zip(chosen, kinds)]
        pairs = [pair for pair in pairs if len(pair[0]) and len(pair[1])]
        queries = [self.typist.misspell(q) if random.random() < self.misspelt else q for q, _ in pairs]
        return self._counts(queries), self._counts([p for _, p in pairs])

    def _pair(self, chunk, kind):
        c, random = self.corpus, self.random
        first, last = c.chunk[chunk], c.chunk[chunk + 1]
        edges = c.sentence[first:last + 1]
        title, heading = c.tokens[edges[0]:edges[1]], c.tokens[edges[1]:edges[2]]
        body, starts = c.tokens[edges[2]:edges[-1]], edges[2:]
        count = len(starts) - 1
        if kind == 'half' and count < 2 or kind == 'claim' and count < 2:
            kind = 'keywords'
        if kind == 'title':
            which = random.random()
            if len(heading) == 0:
                return title, body
            return (np.concatenate([title, heading]) if which < 0.4 else heading if which < 0.75 else title), body
        if kind == 'claim':
            at = random.integers(count)
            end = min(count, at + 1 + (random.random() < 0.25))
            query = c.tokens[starts[at]:starts[end]]
            if random.random() < 0.5:
                return query, self._titled(title, body)
            return query, self._titled(title, np.concatenate([c.tokens[starts[0]:starts[at]],
                                                             c.tokens[starts[end]:starts[-1]]]))
        if kind == 'half':
            cut = starts[count // 2]
            return c.tokens[starts[0]:cut], c.tokens[cut:starts[-1]]
        distinct = np.unique(body)
        weight = self.idf[distinct] + 1e-6
        wanted = min(int((weight > 0.5).sum()) or 1, int(random.integers(3, 10)))
        return random.choice(distinct, wanted, replace=False, p=weight / weight.sum()), self._titled(title, body)

    def _titled(self, title, body):
        return np.concatenate([title, body]) if self.random.random() < 0.5 else body

    def _counts(self, texts):
        rows = np.repeat(np.arange(len(texts)), [len(t) for t in texts])
        keys = rows * np.int64(self.vocabulary) + np.concatenate(texts).astype(np.int64)
        keys, counts = np.unique(keys, return_counts=True)
        shape = (len(texts), self.vocabulary)
        return sparse.csr_matrix((counts.astype(np.float32), (keys // self.vocabulary, keys % self.vocabulary)), shape)
