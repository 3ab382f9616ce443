/**
 * Quotations of SmolLM2 under `quotes`, checked span by span. LOREKEEP_TEST_QUOTES=1000 takes about five
 * minutes of one core.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apostrophes, quotationMarks } from '../../lib/generation/quotation-marks.js';
import { LanguageModel } from '../../lib/index.js';
import { quotations } from '../../src/agents/nodes/generate/quotations.js';
import type { Knowledge } from '../../src/protocol/components.js';
import { testSeed } from '../helpers/random.js';
import { haveModels, realModel, smolLm } from '../helpers/real-models.js';
import { repetitions } from '../helpers/repetitions.js';

const replies = repetitions('QUOTES', 4, 24);
const atOnce = 8;

it('know every character that Unicode calls a quotation mark', () => {
  const all = Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code));
  const unicode = all.filter((character) => /\p{Quotation_Mark}/u.test(character));
  expect([...new Set(quotationMarks + apostrophes)].toSorted()).toEqual(unicode.toSorted());
});

/** What a reader takes for quoted who knows one pair of marks only. */
const readers = [/"([^"]*)"/g, /“([^”]*)”/g, /„([^“]*)“/g, /„([^”]*)”/g, /«([^»]*)»/g, /「([^」]*)」/g];

/** Records with marks, letters and blanks that tokens cut in the middle. */
const texts = [
  'Mara lights the lamp of the harbour at dusk. She says "not before", and she means it.',
  'The café “Zur Möwe” opens at 7:30; a Frühstück costs 4,50 € – and coffee is free 🐟🐠.',
  '灯台は毎晩光る。The keeper wrote: 灯台 means lighthouse.\nA second line,\twith a tab.',
  'Ships of more than 1,200 t need a pilot (see § 12 of the harbour rules); boats do not.',
  'She calls the «Möwe» “the ‘old’ boat”; the sailors’ „Kahn“ isn’t hers, ‹Zoë› says.',
];
const records = texts.map(
  (text, index): Knowledge => ({
    _type: 'knowledge',
    node: 'kb',
    storage: 'docs',
    id: String(index),
    text,
    rank: index + 1,
    score: 1,
  }),
);

describe.skipIf(!haveModels(smolLm))('quotations of a small model that draws at random', () => {
  let model: LanguageModel;
  beforeAll(async () => {
    model = await LanguageModel.load(realModel(smolLm), {
      contextSize: 512,
      kvCells: 2048,
      threads: 1,
      batchThreads: 1,
    });
  });
  afterAll(() => model.close());

  /** First tokens of the marks that open a quotation, made likely. */
  async function opening(marks: readonly string[]): Promise<Record<number, number>> {
    const likely: Record<number, number> = {};
    for (const text of marks.flatMap((mark) => [mark, ` ${mark}`])) {
      const grammar = `root ::= ${JSON.stringify(text)}`;
      const { tokens } = await model.generate({ prompt: 'x', grammar, maxTokens: 4 }).result;
      likely[tokens[0] as number] = 8;
    }
    return likely;
  }

  it(`are spans of the records, in ${replies} replies`, { timeout: 3_600_000 }, async () => {
    const messages = [
      {
        role: 'user' as const,
        content: `Context:\n\n${texts.join('\n\n')}\n\nQuestion: What is said?\nAnswer:`,
      },
    ];
    const biases = [await opening(['"']), await opening(['“', '«', '„', "'", '‘', '「'])];
    let spans = 0;
    let begun = 0;
    const check = async () => {
      // Replies that draw at random, beside each other, may have few quotations.
      while (begun < replies || (spans <= replies / 2 && begun < 20 * replies)) {
        const seed = testSeed + begun++;
        const { text, finish } = await model.generate({
          messages,
          quotes: { texts },
          maxTokens: 32,
          sampling: { temperature: 1.5, topK: 0, topP: 1, minP: 0 },
          logitBias: biases[seed % biases.length],
          seed,
        }).result;
        const parts = text.split(/["“”„‟«»‹›「」『』]/);
        const quoted = parts.filter((part, index) => index % 2 === 1 && part !== '');
        const read = readers.flatMap((reader) =>
          [...text.matchAll(reader)].map(([, span]) => span as string),
        );
        for (const span of [...quoted, ...read]) {
          expect(
            texts.some((record) => record.includes(span)),
            `seed ${seed}: ${JSON.stringify(span)} of ${JSON.stringify(text)}`,
          ).toBe(true);
        }
        expect(text, `seed ${seed}`).not.toMatch(/(?<![\p{L}\p{N}_])['‘’‚‛]/u);
        // The last one may be cut by maxTokens.
        if (finish === 'stop') expect(parts.length % 2, `seed ${seed}: ${text}`).toBe(1);
        const cited = quotations(text, records);
        expect(cited.map(({ reply_start, reply_end }) => text.slice(reply_start, reply_end))).toEqual(quoted);
        for (const { id, start, end, reply_start, reply_end } of cited)
          expect(texts[Number(id)]?.slice(start, end)).toBe(text.slice(reply_start, reply_end));
        spans += quoted.length;
      }
    };
    await Promise.all(Array.from({ length: atOnce }, check));
    expect(spans).toBeGreaterThan(replies / 2);
    console.log(`${replies} replies, ${spans} quotations, seed ${testSeed}`);
  });
});
