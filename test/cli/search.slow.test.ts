import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import stringWidth from 'string-width';
import { beforeAll, describe, expect, it } from 'vitest';
import { homeFolder } from '../../src/base/files/home.js';
import { temporaryFolder } from '../helpers/folder.js';
import { tinyReranker } from '../helpers/rerankers.js';
import { noTerminal, onTerminal } from './command.js';
import { commandHost } from './commands.js';
import { writeSample } from './sample.js';

const inFolder = temporaryFolder();
const lorekeep = commandHost();
let kb = '';
const withoutTerminal = noTerminal();
if (withoutTerminal !== undefined) console.log(`terminal tests skipped: ${withoutTerminal}`);

// biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be printed
const obeyed = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;

beforeAll(async () => {
  kb = writeSample(inFolder);
});

const widest = (text: string) => Math.max(...text.split('\n').map((line) => stringWidth(line)));

describe('lorekeep search', () => {
  it('says how to build an index that is not there yet', async () => {
    const { status, stderr } = await lorekeep(['search', kb, 'bees']);
    expect(status).toBe(1);
    expect(stderr).toContain(`build it: lorekeep build ${kb}`);
    expect((await lorekeep(['build', kb])).status).toBe(0);
  });

  it('prints rank, scores, id and the words that matched', async () => {
    const { status, stdout } = await lorekeep(['search', kb, 'how do bees find flowers?']);
    expect(status).toBe(0);
    const [titles, first] = stdout.split('\n');
    expect(titles?.trim().split(/\s+/)).toEqual([
      '#',
      'score',
      'distance',
      'bm25',
      'relevance',
      'id',
      'text',
    ]);
    expect(first).toMatch(
      /^1 +[01]\.\d{4} +0\.\d{4} +\d+\.\d{4} +[01]\.\d+ +bees .*\[Bees\] \[find\] \[flowers\] by colour/,
    );
  });

  it('centres the snippet on the match, marks by the tokenizer, and obeys no text', async () => {
    const { stdout } = await lorekeep(['search', kb, 'flower', '--mode', 'lexical', '--top-k', '10']);
    expect(stdout).toMatch(/….*no\s+\[flowers\] grow\. .*…/s);
    expect(stdout, 'control characters').not.toMatch(obeyed);
    expect(stdout).toContain('hostile␛[31m');
    expect(stdout).toContain('␛]0;owned␇');
  });

  it('sorts the hits with a reranker of the catalog', async () => {
    const data = JSON.parse(readFileSync(join(homeFolder, 'data', 'models.json'), 'utf8'));
    const models = data.models.map((model: { variants: { file?: string }[] }) => ({
      ...model,
      variants: model.variants.map((variant) =>
        variant.file === undefined ? variant : { ...variant, file: join(homeFolder, 'data', variant.file) },
      ),
    }));
    const judge = {
      name: 'judge',
      model_type: 'reranker',
      variants: [{ file: await tinyReranker('one-layer') }],
    };
    const catalog = inFolder('rerankers.json');
    writeFileSync(catalog, JSON.stringify({ version: 1, models: [...models, judge] }));
    const flags = ['search', kb, 'flowers', '--catalog', catalog, '--rerank'];
    const { hits, plan } = JSON.parse((await lorekeep([...flags, '--json'])).stdout);
    const scores = hits.map(({ rerank_score }: { rerank_score: number }) => rerank_score);
    expect(scores.length).toBeGreaterThan(1);
    expect(scores).toEqual(scores.toSorted((a: number, b: number) => b - a));
    expect(plan.rerank).toMatchObject({ model: 'judge', reranked: true });
    const { stdout } = await lorekeep([...flags, 'judge', '--explain']);
    expect(stdout).toMatch(/rerank +judge: \d+ records/);
    const { status, stderr } = await lorekeep([...flags, 'jugde']);
    expect(status).toBe(2);
    expect(stderr).toContain('--rerank: there is no reranker "jugde"; did you mean "judge"?');
  });

  it('keeps to the columns that there are', async () => {
    for (const columns of [40, 80, 200]) {
      const { stdout } = await lorekeep(['search', kb, 'flowers 蜜蜂', '--top-k', '10'], {
        env: { COLUMNS: String(columns) },
      });
      expect(widest(stdout)).toBeLessThanOrEqual(columns);
      expect(stdout).toContain('蜜蜂');
    }
  });

  it.each([[], ['--explain']])('leaves out scores in a narrow terminal, never ids %j', async (...flags) => {
    for (const columns of [16, 20, 30, 60]) {
      const { stdout } = await lorekeep(['search', kb, 'how do bees find flowers?', ...flags], {
        env: { COLUMNS: String(columns) },
      });
      const [titles, first] = stdout.split('\n') as [string, string];
      expect(stringWidth(titles)).toBeLessThanOrEqual(columns);
      expect(titles).toMatch(/^# .*\bid$/);
      expect(first.slice(titles.length - 2)).toBe('bees');
    }
  });

  it('fuses as --fusion says, and drops hits below --min-score', async () => {
    const args = ['search', kb, 'bees', '--json'];
    const all = JSON.parse((await lorekeep([...args, '--fusion', 'rrf'])).stdout);
    expect(all.plan.fusion).toEqual({ method: 'rrf' });
    const best = Math.max(...all.hits.map(({ relevance }: { relevance: number }) => relevance));
    const some = JSON.parse(
      (await lorekeep([...args, '--fusion', 'rrf', '--min-score', String(best)])).stdout,
    );
    expect(some.hits.map(({ relevance }: { relevance: number }) => relevance)).toEqual([best]);
  });

  it('explains: plan, ranks and scores of both legs, time, metadata', async () => {
    const args = ['search', kb, 'bees', '--explain', '--filter', '{"==":[{"knowledge":"topic"},"insects"]}'];
    const { stdout } = await lorekeep(args);
    expect(stdout.split('\n')[0]).toMatch(
      /# +score +distance +dense +dense # +bm25 +lexical +lexical # +relevance +id/,
    );
    expect(stdout).toMatch(/^mode +hybrid$/m);
    expect(stdout).toMatch(
      /^dense +every matching vector compared: 3 distances computed, 3 match the filter, exact$/m,
    );
    expect(stdout).toMatch(/^lexical +1 word in the query, 1 known, \d+ records? scored$/m);
    expect(stdout).toMatch(/^fusion +by scores: 0\.\d\d dense \+ 0\.\d\d lexical$/m);
    expect(stdout).toMatch(/^time +model .* ms, open .* ms, search .* ms$/m);
    expect(stdout).toContain('{"topic":"insects","year":1923}');
    expect(stdout).not.toContain('feedback');
    const fed = await lorekeep([...args, '--feedback']);
    expect(fed.stdout).toMatch(/^feedback +ranked again near the best 2 hits, weight 0\.30: \d new hits?$/m);
  });

  it('gives JSON with exact integers', async () => {
    const filter = inFolder('filter.json');
    writeFileSync(filter, '\ufeff{"==":[{"knowledge":"topic"},{"variable":"t"}]}');
    const args = ['search', kb, 'ice', '--json', '--filter', `@${filter}`, '--variables', '{"t":"ice"}'];
    const { hits, plan, records } = JSON.parse((await lorekeep(args)).stdout);
    expect(hits).toHaveLength(1);
    expect(hits[0]).toMatchObject({ id: 'glacier', rank: 1, dense_rank: 1, lexical_rank: 1 });
    expect(hits[0].metadata.year).toBe('9007199254740993');
    expect(plan.mode).toBe('hybrid');
    expect(records).toBe(6);
  });

  it('reads the query as the lexical flags say, and marks the words that matched', async () => {
    const found = async (...args: string[]) => {
      const { stdout, stderr } = await lorekeep(['search', kb, '--mode', 'lexical', '--json', ...args]);
      expect(stderr).toBe('');
      return (JSON.parse(stdout).hits as { id: string }[]).map(({ id }) => id);
    };
    expect((await found('+flower* -glaciers "by scent"', '--extended')).sort()).toEqual(['bees']);
    expect(await found('nektar')).toEqual([]);
    expect(await found('nektar', '--fuzzy')).toEqual(['honey']);
    expect(await found('insect', '--boost', 'topic=2')).toEqual(
      expect.arrayContaining(['bees', 'honey', 'wide']),
    );
    expect(await found('bees snow', '--stop-words', 'bees')).toEqual(['glacier']);
    expect(await found('blossoms', '--synonyms', 'blossoms,nectar')).toEqual(['honey']);
    expect(await found('blossoms', '--lexical', '{"synonyms": [["blossoms", "nectar"]]}')).toEqual(['honey']);
    const { stdout } = await lorekeep([
      'search',
      kb,
      'dri* blossoms',
      '--extended',
      '--synonyms',
      'blossoms,nectar',
    ]);
    expect(stdout).toMatch(/Honey is \[nectar\] that bees have \[dried\]/);
    const snippet = await lorekeep(['search', kb, 'nectar', '--highlight', '--json', '--top-k', '1']);
    expect(JSON.parse(snippet.stdout).hits[0].snippet).toContainEqual({ text: 'nectar', match: true });
  });

  it('names the flag that is wrong, or has no effect', async () => {
    const cases: [string[], string][] = [
      [['--fuzzy', '--mode', 'dense'], '--fuzzy: it has no effect in dense mode'],
      [['--lexical', '{}', '--mode', 'dense'], '--lexical: it has no effect in dense mode'],
      [['--fusion', 'rrf', '--mode', 'lexical'], '--fusion: it has no effect in lexical mode'],
      [['--variables', '{"t":1}'], '--variables: it has no effect without --filter'],
      [['--boost', 'topic'], 'FIELD=FACTOR is expected'],
      [['--boost', 'topik=2'], '--boost: "topik" is not a field'],
      [['--synonyms', 'one'], 'two words or more are expected'],
      [['--lexical', '{"fuzziness": 2}'], '--lexical.fuzziness: a number of at most 1'],
      [['--lexical', '{"fuzzines": 1}'], '--lexical: '],
    ];
    const results = await Promise.all(cases.map(([args]) => lorekeep(['search', kb, 'x', ...args])));
    for (const [at, { status, stderr }] of results.entries()) {
      expect(stderr).toContain(cases[at]?.[1]);
      expect(status).toBe(2);
    }
  });

  it('says why nothing was found', async () => {
    const words = await lorekeep(['search', kb, 'the , !', '--mode', 'lexical']);
    expect(words.stdout).toBe('');
    expect(words.stderr).toMatch(/^no hits\n/);
    expect(words.stderr).toContain('the query has no words under the tokenizer "enhanced"');
    const far = await lorekeep(['search', kb, 'bees', '--mode', 'dense', '--threshold', '0']);
    expect(far.stderr).toContain('no record is within the threshold');
    const irrelevant = await lorekeep(['search', kb, 'bees', '--min-score', '1']);
    expect(irrelevant.stderr).toMatch(/^no hits\nlorekeep: no hit has a relevance of 1 or more\n$/);
    const beyond = await lorekeep(['search', kb, 'bees', '--offset', '50']);
    expect(beyond.stderr).toMatch(/^no hits\nlorekeep: there are no more than 50 hits\n$/);
    const filtered = await lorekeep([
      'search',
      kb,
      'bees',
      '--filter',
      '{"==":[{"knowledge":"topic"},"none"]}',
    ]);
    expect(filtered.stderr).toContain('no record matches the filter');
    const none = '{"topic": {"==": "none"}}';
    const lexical = await lorekeep(['search', kb, 'bees', '--mode', 'lexical', '--filter', none]);
    expect(lexical.stderr).toMatch(
      /^no hits\nlorekeep: no record that matches the filter has the query's words\n$/,
    );
    const extended = (text: string) => lorekeep(['search', kb, '--extended', '--', text]);
    expect((await extended('+bees -bees')).stderr).toMatch(
      /^no hits\nlorekeep: no record has all required words and phrases and none of the excluded ones\n$/,
    );
    expect((await extended('+zzz')).stderr).toMatch(
      /^no hits\nlorekeep: no record holds any of the query's words\n$/,
    );
    const excluded = (await extended('-bees')).stderr;
    expect(excluded).not.toContain('only the meaning was searched');
    expect(excluded).toContain(
      'without operators and excluded words no text is left to search for by meaning',
    );
  });

  it('names what is wrong with filters, files and models, and the fix', async () => {
    const unknown = inFolder('unknown.json');
    writeFileSync(unknown, JSON.stringify({ embedding_model: 'lorekeep-mni', records_file: 'records.json' }));
    const twice = inFolder('twice.json');
    writeFileSync(twice, '{"topic": {"==": "a"},\n "topic": {"==": "b"}}');
    const latin = inFolder('latin.json');
    writeFileSync(latin, Buffer.from('{"topic": {"==": "\xe9"}}', 'latin1'));
    const deep = `{"and":${'['.repeat(100)}${']'.repeat(100)}}`;
    const cases: [string[], number, string][] = [
      [[kb, 'x', '--filter', '{"=="'], 2, '--filter: not valid JSON'],
      [[kb, 'x', '--filter', `@${twice}`], 2, 'twice.json:2:2: topic: occurs twice'],
      [[kb, 'x', '--filter', '{"topic":{"==":"a","==":"b"}}'], 2, '--filter:1:20: topic.==: occurs twice'],
      [[kb, 'x', '--filter', deep], 2, '--filter: nested deeper than 64 levels'],
      [[kb, 'x', '--filter', `@${latin}`], 2, 'latin.json: is not UTF-8'],
      [[kb, 'x', '--group-by', 'z'], 2, '--group-by: the records have no field "z"; they have'],
      [[kb, 'x', '--filter', '@absent'], 2, '--filter: absent: the file does not exist'],
      [[kb, 'x', '--filter', '{"==":[{"knowledge":"topik"},1]}'], 2, 'did you mean "topic"?'],
      [[tmpdir(), 'x'], 1, 'is a folder that is not indexed; run: lorekeep index'],
      [['', 'x'], 2, 'the name of the knowledge base is empty'],
      [[unknown, 'x'], 1, 'did you mean "lorekeep-mini"?'],
      [[kb, 'x', '--catalog', inFolder('none.json')], 2, 'none.json: the file does not exist'],
      [[kb, 'x', '--catalog', inFolder('.')], 2, 'is a folder; a model catalog is expected'],
      [[kb, 'x', '--config', inFolder('none.json')], 2, 'none.json: the file does not exist'],
    ];
    if (process.platform !== 'win32')
      cases.push([[kb, 'x', '--filter', '@/dev/zero'], 2, '/dev/zero: is longer than 16777216 bytes']);
    const results = await Promise.all(cases.map(([args]) => lorekeep(['search', ...args])));
    for (const [index, { status, stderr }] of results.entries()) {
      expect(stderr).toContain(cases[index]?.[2]);
      expect(stderr).toMatch(/^lorekeep: [^\n]+\n$/);
      expect(status).toBe(cases[index]?.[1]);
    }
  });

  it('colours a pipe where FORCE_COLOR asks for it', async () => {
    const shown = async (env: NodeJS.ProcessEnv) =>
      (await lorekeep(['search', kb, 'honey', '--top-k', '1'], { env })).stdout;
    expect(await shown({ FORCE_COLOR: '1' })).toContain('\u001b[33mHoney\u001b[39m');
    expect(await shown({ FORCE_COLOR: '0' })).not.toContain('\u001b');
    expect(await shown({})).not.toContain('\u001b');
  });

  it.skipIf(withoutTerminal)(
    'highlights with colours on a terminal, and without where NO_COLOR is set',
    async () => {
      const coloured = await onTerminal(60, ['search', kb, 'honey', '--top-k', '1']);
      expect(coloured.stdout).toContain('\u001b[33mHoney\u001b[39m');
      const plain = await onTerminal(60, ['search', kb, 'honey', '--top-k', '1'], [], {
        env: { NO_COLOR: '1' },
      });
      expect(plain.stdout).toContain('[Honey]');
      expect(plain.stdout).not.toContain('\u001b');
      expect(widest(plain.stdout.replaceAll('\r', ''))).toBeLessThanOrEqual(60);
    },
  );
});
