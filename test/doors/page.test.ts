import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { codeValidMs, PageEntry } from '../../src/doors/page/entry.js';
import { FakeTextModel } from '../helpers/fake-text-model.js';
import { corpus } from '../server/corpus.js';
import { call, door } from './door-setting.js';

const form = { 'content-type': 'application/x-www-form-urlencoded' };
const fromFile = { ...form, origin: 'null', 'sec-fetch-site': 'cross-site' };

async function pageDoor(options = {}) {
  const opened = await door(
    { enabled: false, page: true },
    { accessToken: 'a token that nobody knows', ...options },
  );
  const { entry } = opened.server.server.page as NonNullable<typeof opened.server.server.page>;
  const enter = (code: string, headers: Record<string, string> = fromFile) =>
    call(opened.port, 'POST', '/page/enter', `code=${code}`, headers);
  return { ...opened, entry, enter };
}

const passIn = (text: string) => /name="lorekeep-pass" content="([\w-]{43})"/.exec(text)?.[1] ?? '';

describe('the entry of the page', () => {
  it('a code works once, from a file, and gives a secret for searching and asking', async () => {
    const { call, entry, enter } = await pageDoor();
    const ended = vi.fn();
    const code = entry.create(ended);
    const entered = await enter(code);
    expect(entered.status).toBe(200);
    expect(ended).toHaveBeenCalledTimes(1);
    const authorization = `Bearer ${passIn(entered.text)}`;
    const searched = await call('POST', '/v1/search', { text: 'bees', name: 'docs' }, { authorization });
    expect(searched.status).toBe(200);
    const state = await call('GET', '/page/state', undefined, { authorization });
    expect(state.json()).toMatchObject({ places: [{ name: 'docs', state: 'ready' }] });
    expect((await enter(code)).status).toBe(403);
    expect(entered.headers['cache-control']).toBe('no-store');
    expect(entered.text).not.toContain(code);
  });

  it('without a secret there is the page, and nothing else', async () => {
    const { call } = await pageDoor();
    for (const path of ['/', '/page/app.js', '/page/app.css', '/page/enter.js']) {
      const { status, headers } = await call('GET', path);
      expect({ path, status }).toEqual({ path, status: 200 });
      expect(headers['content-security-policy']).toMatch(
        /^default-src 'none'; script-src 'self'; .*frame-ancestors 'none'/,
      );
      expect(headers['content-security-policy']).toContain("require-trusted-types-for 'script'");
    }
    for (const path of ['/page/state', '/page/storages/docs', '/page/document?storage=docs&id=r1'])
      expect((await call('GET', path)).status, path).toBe(401);
    expect((await call('POST', '/page/ask', { text: 'x', storages: ['docs'] })).status).toBe(401);
  });

  it.each([
    ['a wrong code', 'x'.repeat(43), fromFile, 403],
    ['no code', '', fromFile, 403],
    ['a long form', 'x'.repeat(2000), fromFile, 413],
    ['JSON', 'x', { ...fromFile, 'content-type': 'application/json' }, 415],
    ['another web page', 'x', { ...form, origin: 'https://example.com' }, 403],
    ['a name that DNS may have rebound', 'x', { ...fromFile, host: 'evil.example' }, 403],
  ])('%s is refused', async (_, code, headers, status) => {
    const { enter } = await pageDoor();
    expect((await enter(code, headers)).status).toBe(status);
  });

  it('no other address takes requests of files', async () => {
    const { call } = await pageDoor();
    const headers = { origin: 'null', 'sec-fetch-site': 'cross-site' };
    for (const [method, path] of [
      ['GET', '/'],
      ['POST', '/v1/search'],
      ['GET', '/page/enter'],
      ['OPTIONS', '/page/enter'],
    ] as const)
      expect((await call(method, path, undefined, headers)).status, path).toBe(403);
  });

  it('a code is too old after a while, and all end with the page', () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const entry = new PageEntry();
    const ended = vi.fn();
    const old = entry.create(ended);
    vi.advanceTimersByTime(codeValidMs + 1);
    expect(ended).toHaveBeenCalledTimes(1);
    expect(entry.redeem(old)).toBe(false);
    entry.create(ended);
    entry.close();
    expect(ended).toHaveBeenCalledTimes(2);
  });

  it('the page is off unless it is switched on', async () => {
    const { call } = await door();
    expect((await call('GET', '/')).status).toBe(404);
    expect((await call('POST', '/page/enter', 'code=x', form)).status).toBe(404);
  });
});

describe('routes of the page', () => {
  it('the fields of a storage have their values', async () => {
    const { call } = await door({ page: true });
    expect((await call('GET', '/page/storages/docs')).json()).toMatchObject({
      name: 'docs',
      records: corpus.length,
      fields: [{ name: 'n', type: 'int', least: 0, greatest: corpus.length - 1 }, { name: 'big' }],
    });
  });

  it('a record without a path is its own document, and an unknown one is refused', async () => {
    const { call } = await door({ page: true });
    const one = await call('GET', '/page/document?storage=docs&id=r1');
    expect(one.json()).toMatchObject({
      passages: [{ id: 'r1', text: corpus[1]?.text }],
      offset: 0,
      total: 1,
    });
    expect((await call('GET', '/page/document?storage=docs&id=nope')).status).toBe(404);
    expect((await call('GET', '/page/document?storage=dacs&id=r1')).status).toBe(404);
  });

  it('an answer comes as events, with its sources', async () => {
    const { call } = await door({ page: true });
    const { text } = await call('POST', '/page/ask', { text: corpus[0].question, storages: ['docs'] });
    const events = text.split('\n\n').filter((event) => event !== '');
    expect(events[0]).toBe('event: begun\ndata: {}');
    const answer = JSON.parse(/^event: answer\ndata: (.*)$/.exec(events.at(-1) ?? '')?.[1] ?? '{}');
    expect(answer.hits.length).toBeGreaterThan(0);
    expect(answer).toHaveProperty('citations');
  });

  it('folders that are being indexed say how far they are, and the model of the command comes first', async () => {
    const progress = { phase: 'embed', done: 3, total: 10 };
    const place = { name: 'docs', kind: 'folder', path: './docs', state: 'indexing', progress } as const;
    const { call } = await door({ page: true }, { page: { places: [place], model: 'talker' } });
    const state = (await call('GET', '/page/state')).json();
    expect(state.places).toEqual([place]);
    expect(state.answerers[0]).toEqual({ kind: 'model', name: 'talker' });
    expect(state.answerers.at(-1).kind).toBe('quote');
    expect(state.models).toContainEqual({ name: 'absent', kind: 'embedding', present: false });
  });

  it('a model answers while its text is written, and its marks cite', async () => {
    const model = new FakeTextModel({ reply: () => ['Bees ', 'do', ' [1].'] });
    const { call } = await door({ page: true }, { loadLanguageModel: async () => model });
    const by = { kind: 'model', name: 'talker' };
    const { text } = await call('POST', '/page/ask', { text: corpus[0].question, storages: ['docs'], by });
    const events = text.split('\n\n').filter((event) => event !== '');
    const pieces = events.filter((event) => event.startsWith('event: text\n'));
    expect(pieces.length).toBeGreaterThan(0);
    const written = pieces.map((event) => JSON.parse(event.split('data: ')[1] as string).text).join('');
    const answer = JSON.parse((events.at(-1) as string).split('data: ')[1] as string);
    expect(written).toBe(answer.text);
    expect(answer.sources.length).toBeGreaterThan(0);
    expect(answer.sources[0]).toMatchObject({ storage: 'docs', number: 1 });
  });

  it.each([
    [{ text: 'x', storages: [] }, 400],
    [{ text: 'x', storages: ['../docs'] }, 404],
    [{ text: '', storages: ['docs'] }, 400],
    [{ text: 'x', storages: ['docs'], by: { kind: 'agent', name: 'nobody' } }, 404],
    [{ text: 'x', storages: ['docs'], by: { kind: 'shell', name: 'sh' } }, 400],
  ])('the question %j is refused', async (body, status) => {
    const { call } = await door({ page: true });
    expect((await call('POST', '/page/ask', body)).status).toBe(status);
  });

  it('an unknown model ends the stream with an error that names it', async () => {
    const { call } = await door({ page: true });
    const by = { kind: 'model', name: 'nobody' };
    const { text } = await call('POST', '/page/ask', { text: 'x', storages: ['docs'], by });
    expect(text).toMatch(/^event: error\ndata: .*nobody/);
  });
});
