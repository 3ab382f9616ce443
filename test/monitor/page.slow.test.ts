import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Graph } from '../../src/client/index.js';
import { createLog } from '../../src/log/log.js';
import { LogTail } from '../../src/operations/monitor/log-tail.js';
import { keysFile, secret } from '../doors/web-socket.js';
import { FakeTextModel } from '../helpers/fake-text-model.js';
import { temporaryFolder } from '../helpers/folder.js';
import { corpus } from '../server/corpus.js';
import { TestServer, type TestServerOptions } from '../server/test-server.js';
import { browserPath, launch } from './browser.js';

if (browserPath === undefined)
  console.log('left out: the monitor in a browser; the Debian package chromium is not installed');

const inFolder = temporaryFolder();

const fields = [{ name: 'year', type: 'int', optional: true }];
const graph: Graph = {
  nodes: [
    { id: 'find', type: 'retrieve', params: { embedded_string_storage: 'kb.json', mode: 'hybrid' } },
    { id: 'answer', type: 'quote', params: { fallback: 'nothing is known' } },
  ],
};

describe.skipIf(browserPath === undefined)('the monitor in a browser', () => {
  let browser: Browser;
  let axe: string;

  beforeAll(async () => {
    const records = corpus.map(({ text }, n) => ({ id: `r${n}`, text, metadata: { year: 2000 + n } }));
    mkdirSync(inFolder('root'));
    writeFileSync(inFolder('root', 'records.json'), JSON.stringify(records));
    writeFileSync(
      inFolder('root', 'kb.json'),
      JSON.stringify({ embedding_model: 'tiny', records_file: 'records.json', fields }),
    );
    axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
    browser = await launch();
  });
  afterAll(() => browser?.close());

  interface StartOptions {
    userContent?: boolean;
    turns?: number;
    ring?: number;
    keysFile?: string;
    loadLanguageModel?: TestServerOptions['loadLanguageModel'];
  }

  async function start(options: StartOptions = {}) {
    const logTail = new LogTail(false);
    const server = await TestServer.start({
      config: {
        storage_root: inFolder('root'),
        http: { keys_file: options.keysFile ?? '' },
        monitor: { enabled: true, port: 0, turn_ring_size: options.ring ?? 200, memory_tick_interval_ms: 50 },
        include_interaction_in_diagnostics: options.userContent ?? false,
      },
      log: createLog('info', logTail),
      logTail,
      loadLanguageModel: options.loadLanguageModel,
    });
    const session = await server.session();
    const agent = await session.createAgent({ graph });
    for (let n = 0; n < (options.turns ?? 2); n++) await agent.turn(corpus[0].question);
    return { server, session, agent, url: `http://127.0.0.1:${server.server.monitorPort}/` };
  }

  /** Opens a page; whatever the browser reports as an error fails the test. */
  async function open(url: string, options: object = {}) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, ...options });
    const problems: string[] = [];
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) problems.push(message.text());
    });
    page.on('pageerror', (error) => problems.push(String(error)));
    await page.goto(url);
    await page.getByText('live', { exact: true }).waitFor();
    return { page, problems };
  }

  /** Opens a panel, and waits until it is shown. */
  async function tab(page: Page, name: string) {
    await page.getByRole('tab', { name }).click();
    await page.getByRole('tabpanel', { name }).waitFor();
  }

  const isTooWide = (page: Page) => page.evaluate('document.documentElement.scrollWidth > innerWidth');

  async function seriousFindings(page: Page): Promise<string[]> {
    await page.evaluate(axe);
    return page.evaluate(async () => {
      const { axe: checker } = globalThis as unknown as {
        axe: { run(): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }> };
      };
      const { violations } = await checker.run();
      return violations
        .filter(({ impact }) => impact !== 'minor')
        .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join('; ')}`);
    });
  }

  it('every panel shows the live server, without an error and without a serious accessibility finding', async () => {
    const { url } = await start();
    const { page, problems } = await open(url);
    const expected: [name: string, text: string][] = [
      ['Turns', 'find (retrieve)'],
      ['Clients', 'retrieve, quote'],
      ['Storages', 'Pinned'],
      ['Search', 'Knowledge base'],
      ['Memory', 'V8 heap'],
      ['Scheduler', 'interactive_visible'],
      ['Log', 'listening'],
      ['Config', 'monitor.turn_ring_size'],
    ];
    for (const [colorScheme, width] of [
      ['light', 1280],
      ['dark', 360],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 800 });
      for (const [name, text] of expected) {
        await tab(page, name);
        await page.getByText(text).first().waitFor();
        expect(await seriousFindings(page), `${name}, ${colorScheme}`).toEqual([]);
      }
    }
    expect(problems).toEqual([]);
    await page.close();
  });

  it('turns arrive while the page is open; texts only with include_interaction_in_diagnostics', async () => {
    const { url, agent } = await start();
    const { page } = await open(url);
    await agent.turn(corpus[0].question);
    await page.getByText('s1.t3', { exact: true }).first().waitFor();
    await page.locator('.list .row').first().getByText('s1.a1', { exact: true }).waitFor();
    await page
      .locator('.list .row')
      .first()
      .getByText(/^127\.0\.0\.1:\d+$/)
      .waitFor();
    expect(await page.content()).not.toContain(corpus[0].question);
    await page.close();
    const open2 = await start({ userContent: true });
    const second = await open(open2.url);
    await second.page.getByText(corpus[0].question).first().waitFor();
    await second.page.close();
  });

  it('a failed turn says why and where, and can be found among the others', async () => {
    const { url, session } = await start({ turns: 3 });
    const filter = { '>': [{ knowledge: 'year' }, { variable: 'from' }] };
    const [find, answer] = graph.nodes as [{ params: object }, object];
    const needing = { nodes: [{ ...find, params: { ...find.params, filter } }, answer] } as unknown as Graph;
    const agent = await session.createAgent({ graph: needing });
    expect(await agent.turn('since when?')).toMatchObject({ status: 'failed' });
    const { page, problems } = await open(url);
    await page.getByText('Failed: InvalidParam (4003)').waitFor();
    await page.getByText('in the node find (retrieve)').waitFor();
    await page.getByText('graph.nodes[0].params.filter', { exact: true }).waitFor();
    expect(await page.content()).not.toContain('since when?');
    await page.getByLabel('Status').selectOption('failed');
    await expect.poll(() => page.locator('.list .row').count()).toBe(1);
    await page.getByLabel('Status').selectOption('completed');
    await expect.poll(() => page.locator('.list .row').count()).toBe(3);
    await page.getByLabel('Contains').fill('no turn has this');
    await page.getByText('None of the latest 4 turns is like this.').waitFor();
    const pulse = page.getByRole('region', { name: 'The last hour' });
    await pulse.getByText('1 (25 %)').waitFor();
    expect(problems).toEqual([]);
    await page.close();
  });

  it('a turn shows how long its search, the legs and the fusion took', async () => {
    const { url } = await start();
    const { page } = await open(url);
    await page.getByRole('img', { name: /embedding .*search .*by meaning .*by words .*fusion / }).waitFor();
    await page.getByText('by meaning', { exact: true }).first().waitFor();
    await page.close();
  });

  it('the scheduler draws the prefixes of a cache as a tree, on narrow screens too', async () => {
    const part = { running: 0, kept: 0, pinned: 0, idleMs: 0 };
    const persona = { ...part, depth: 0, tokens: 512, kept: 1, pinned: 1, idleMs: 125_000 };
    const conversation = Array.from({ length: 40 }, (_, n) => ({
      ...{ ...part, depth: n + 1, tokens: 40 + n, kept: 1, idleMs: 3000 },
    }));
    const parts = [persona, ...conversation, { ...part, depth: 1, tokens: 9, running: 1 }];
    const talker = Object.assign(new FakeTextModel(), { prefixes: async () => parts });
    const { url, session } = await start({ loadLanguageModel: async () => talker });
    await session.createAgent({
      graph: { nodes: [{ id: 'a', type: 'generate', params: { model: 'talker' } }] },
    });
    const { page, problems } = await open(`${url}#scheduler`, { viewport: { width: 360, height: 740 } });
    const tree = page.getByRole('list', { name: 'Prefixes of talker' });
    await tree.getByText('512 tokens, 1 running, 41 kept, 1 pinned', { exact: true }).waitFor();
    await tree.getByText('9 tokens, 1 running', { exact: true }).waitFor();
    await tree.getByText('79 tokens, 1 kept, idle for 3 s', { exact: true }).waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await seriousFindings(page), colorScheme).toEqual([]);
    }
    await expect.poll(() => isTooWide(page)).toBe(false);
    expect(problems).toEqual([]);
    await page.close();
  });

  it('every curve of the memory chart has a colour of its own', async () => {
    const { url } = await start();
    const { page } = await open(`${url}#memory`);
    await page.getByText('V8 heap').waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const styles = (selector: string, property: string) =>
        page.evaluate<string[]>(
          `[...document.querySelectorAll('${selector}')].map((one) => getComputedStyle(one).${property})`,
        );
      await expect.poll(async () => new Set(await styles('.chart path', 'stroke')).size).toBe(5);
      const strokes = await styles('.chart path', 'stroke');
      expect(strokes).not.toContain('none');
      await expect.poll(() => styles('.key rect', 'fill')).toEqual(strokes);
    }
    await page.close();
  });

  it('the memory chart shows the values of a time, to a pointer and to the keyboard', async () => {
    const { url } = await start();
    const { page, problems } = await open(`${url}#memory`, { viewport: { width: 400, height: 740 } });
    const chart = page.getByRole('img', { name: /^Memory from/ });
    await chart.hover();
    await expect.poll(() => chart.locator('circle').count()).toBe(5);
    await page.getByRole('heading', { name: 'Memory' }).hover();
    await expect.poll(() => chart.locator('circle').count()).toBe(0);
    const slider = page.getByRole('slider', { name: 'Time' });
    await expect.poll(async () => Number(await slider.getAttribute('max'))).toBeGreaterThan(2);
    await slider.focus();
    await page.keyboard.press('Home');
    await expect.poll(() => chart.locator('circle').count()).toBe(5);
    await expect.poll(() => slider.getAttribute('aria-valuetext')).toMatch(/^\d+:\d+:\d+/);
    expect(problems).toEqual([]);
    await page.close();
  });

  it('buttons free what nobody uses, and ask for a key where the server has some', async () => {
    const { url } = await start({ keysFile: keysFile({ owner: ['files'] }) });
    const { page, problems } = await open(`${url}#storages`);
    const storages = page.getByRole('table', { name: 'Storages' });
    await storages.getByRole('cell', { name: String(corpus.length), exact: true }).waitFor();
    await page.getByRole('button', { name: 'Unload tiny' }).click();
    await page.getByRole('alert').getByText('Authorization: is missing').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByLabel(/^Access token/).fill(secret('owner'));
    await page.getByRole('button', { name: 'Enter' }).click();
    await page.getByRole('status').getByText('tiny is unloaded.').waitFor();
    await page.getByRole('button', { name: 'Unload tiny' }).waitFor({ state: 'detached' });
    expect(problems.filter((text) => !text.includes('401'))).toEqual([]);
    await page.close();
  });

  it('the inspector shows both legs, what the filter removes, and why a record is missing', async () => {
    const { url } = await start();
    const { page, problems } = await open(`${url}#search`);
    await page.getByLabel('Query').fill(corpus[0].question);
    await page.getByRole('button', { name: 'Search' }).click();
    const hits = page.getByRole('table', { name: 'Hits' });
    await hits.getByText('r0', { exact: true }).waitFor();
    await page.getByRole('table', { name: 'By meaning' }).getByText('r0', { exact: true }).waitFor();
    await page.getByRole('table', { name: 'By words' }).getByText('r0', { exact: true }).waitFor();
    await page.getByLabel('Filter (JSON)').fill('{">": [{"knowledge": "year"}, 2000]}');
    await page.getByLabel('Why is this record not found?').fill('r0');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByText('The filter removes r0').waitFor();
    const removed = page.getByRole('table', { name: 'Removed by the filter' });
    await removed.getByText('r0', { exact: true }).waitFor();
    await page.getByLabel('Why is this record not found?').fill('r99');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByText('The storage has no record "r99"').waitFor();
    await page.getByLabel('Filter (JSON)').fill('{');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('alert').getByText('Filter: ').waitFor();
    await page.getByLabel('Filter (JSON)').fill('{"no": 1}');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('alert').waitFor();
    // The browser itself reports the refused request.
    expect(problems.filter((text) => !text.includes('400'))).toEqual([]);
    await page.close();
  });

  it('the log says that it has no line of a level and a word', async () => {
    const { url } = await start();
    const { page } = await open(url);
    await tab(page, 'Log');
    await page.getByText('listening').first().waitFor();
    await page.getByLabel('Contains').fill('no line has this');
    await page.getByText(/^None of the latest \d+ lines is shown\.$/).waitFor();
    await page.getByLabel('Contains').fill('');
    await page.getByText('None of the latest').waitFor({ state: 'detached' });
    await page.close();
  });

  it('a request that fails once does not leave the page disconnected', async () => {
    const { url } = await start();
    const { page } = await open(url);
    await page.route('**/api/state', (route) => route.abort());
    await page.getByText('not connected', { exact: true }).waitFor();
    await page.unroute('**/api/state');
    await page.getByText('live', { exact: true }).waitFor();
    await page.close();
  });

  it('the keyboard selects tabs and turns', async () => {
    const { url } = await start({ turns: 3 });
    const { page } = await open(url);
    await expect.poll(() => page.locator('.list .row').count()).toBe(3);
    const list = page.getByRole('listbox');
    await list.focus();
    await page.keyboard.press('ArrowDown');
    await page.getByRole('heading', { name: 's1.t2' }).waitFor();
    await page.keyboard.press('ArrowUp');
    await page.getByRole('heading', { name: 's1.t3' }).waitFor();
    await page.keyboard.press('End');
    await page.getByRole('heading', { name: 's1.t1' }).waitFor();
    await expect.poll(() => list.getAttribute('aria-activedescendant')).toBe('turn-1');
    await page.keyboard.press('Home');
    await page.getByRole('heading', { name: 's1.t3' }).waitFor();
    await page.getByRole('tab', { name: 'Turns' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('tabpanel', { name: 'Clients' }).waitFor();
    await page.close();
  });

  it('thousands of turns take a few rows of the page, and a narrow screen does not scroll sideways', async () => {
    const { url, server } = await start({ turns: 1, ring: 10_000 });
    const facts = { ...turnFacts, components: [] };
    for (let n = 0; n < 10_000; n++) server.server.observer?.turn?.({ ...facts, turn: `s9.t${n}` });
    const { page, problems } = await open(url, { viewport: { width: 360, height: 740 } });
    await page.getByText('s9.t9999', { exact: true }).first().waitFor();
    await expect.poll(() => page.locator('.list .row').count()).toBeLessThan(80);
    await page.getByRole('listbox').evaluate((element) => {
      element.scrollTop = element.scrollHeight;
    });
    await page.getByRole('listbox').getByText('s9.t0', { exact: true }).waitFor();
    // Rows stay in place while newer turns arrive above them.
    const list = page.getByRole('listbox');
    const topOf = (locator: Locator) => locator.evaluate((element) => element.getBoundingClientRect().top);
    const place = async () => (await topOf(list.getByText('s9.t0', { exact: true }))) - (await topOf(list));
    const rows = () => list.evaluate((element) => element.scrollHeight);
    const height = await rows();
    const before = await place();
    for (let n = 0; n < 30; n++) server.server.observer?.turn?.({ ...facts, turn: `later${n}` });
    await expect.poll(rows).toBeGreaterThan(height);
    await expect.poll(place).toBe(before);
    for (const name of ['Turns', 'Clients', 'Search', 'Config']) {
      await tab(page, name);
      await expect.poll(() => isTooWide(page), { message: name }).toBe(false);
    }
    expect(problems).toEqual([]);
    await page.close();
  });
});

const turnFacts = {
  agent: 's9.a1',
  client: '127.0.0.1:5000',
  status: 'completed',
  code: undefined,
  queuedMs: 0.1,
  durationMs: 2,
  nodes: [{ node: 'a', type: 'retrieve', duration_ms: 1 }],
  engine: () => [],
  skipped: 0,
  hits: 3,
  citations: 0,
  message: 'a question',
  reply: 'an answer',
} as const;
