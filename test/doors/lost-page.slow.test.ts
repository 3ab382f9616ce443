import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { PagePlace } from '../../src/doors/host.js';
import { FakeTextModel } from '../helpers/fake-text-model.js';
import { browserPath, launch } from '../monitor/browser.js';
import { corpus } from '../server/corpus.js';
import { door } from './door-setting.js';

if (browserPath === undefined)
  console.log('left out: the page without its server; the Debian package chromium is not installed');

/** A way to a port that can be cut: then connections end, and nobody listens. */
class Way {
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((from) => {
    const to = connect(this.#target, '127.0.0.1');
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const) {
      this.#sockets.add(one);
      one.on('error', () => other.destroy()).on('close', () => other.destroy());
      one.pipe(other);
    }
  });
  readonly #target: number;
  #port = 0;

  constructor(target: number) {
    this.#target = target;
  }

  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (this.#server.address() as AddressInfo).port;
    return `http://127.0.0.1:${this.#port}/`;
  }

  async cut(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
    await closed;
  }
}

describe.skipIf(browserPath === undefined)('a page whose server has gone', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser?.close());

  async function shown(
    places: readonly PagePlace[],
    look: { width?: number; colorScheme?: 'dark' } = {},
    model = new FakeTextModel(),
  ) {
    const source = { places, model: 'talker' };
    const opened = await door({ page: true }, { loadLanguageModel: async () => model, page: source });
    const way = new Way(opened.port);
    const url = await way.open();
    const page = await browser.newPage({
      viewport: { width: look.width ?? 1280, height: 800 },
      ...(look.colorScheme && { colorScheme: look.colorScheme }),
    });
    onTestFinished(async () => {
      await page.close();
      await way.cut();
    });
    await page.goto(url);
    await query(page).waitFor();
    return { page, way };
  }

  const ready: PagePlace = { name: 'docs', kind: 'config', path: './docs', state: 'ready' };
  const query = (page: Page) => page.getByPlaceholder('Search your documents');
  const hits = (page: Page) => page.getByRole('list', { name: 'Hits' }).getByRole('button');
  const lost = (page: Page) => page.getByText('The server does not answer.', { exact: true });
  const tab = (page: Page, name: string) => page.getByRole('tab', { name }).click();

  async function findings(page: Page): Promise<string[]> {
    await page.evaluate(readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'));
    const found = await page.evaluate('axe.run()');
    return (found as { violations: { id: string; impact: string }[] }).violations
      .filter(({ impact }) => impact !== 'minor')
      .map(({ id }) => id);
  }

  it('an answer that is cut is told from a whole one, and is asked again by a button', async () => {
    let goOn = () => {};
    let isCut = true;
    const pause = (index: number) =>
      index < 2 || !isCut ? Promise.resolve() : new Promise<void>((resolve) => (goOn = resolve));
    const model = new FakeTextModel({ reply: () => ['The telescope ', 'stands ', 'on a hill.'], pause });
    onTestFinished(() => goOn());
    const { page, way } = await shown([ready], {}, model);
    await tab(page, 'Ask');
    await page.getByPlaceholder('Ask your documents').fill(corpus[0].question);
    await page.keyboard.press('Enter');
    const reply = page.locator('.turn .reply');
    await expect.poll(() => reply.textContent()).toContain('The telescope');
    await way.cut();
    await page.getByText('The answer is not whole: the server does not answer').waitFor();
    await lost(page).waitFor();
    expect(await reply.textContent()).not.toContain('hill');
    isCut = false;
    await way.open();
    await lost(page).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Ask again' }).click();
    await expect.poll(() => reply.last().textContent()).toBe('The telescope stands on a hill.');
    expect(await page.getByText('Reading the documents.').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Ask again' }).count()).toBe(0);
  });

  it('hits of an earlier query do not stand under a later one, which is searched once there is a server', async () => {
    const { page, way } = await shown([ready]);
    await query(page).fill(corpus[0].question);
    await hits(page).first().waitFor();
    await way.cut();
    await query(page).fill(corpus[1]?.question as string);
    await page.getByText('Not searched: the server does not answer').waitFor();
    await lost(page).waitFor();
    expect(await hits(page).count()).toBe(0);
    expect(await page.getByText(/^\d+ hits?|^The best/).count()).toBe(0);
    await page.getByRole('button', { name: 'Search again' }).click();
    await page.getByText('Not searched: the server does not answer').waitFor();
    await way.open();
    await hits(page).first().waitFor();
    expect(await page.getByText('Not searched').count()).toBe(0);
    await lost(page).waitFor({ state: 'detached' });
  });

  it('a document that could not be read is read once there is a server', async () => {
    const { page, way } = await shown([ready]);
    await query(page).fill(corpus[0].question);
    await hits(page).first().waitFor();
    await way.cut();
    await hits(page).first().click();
    await page.getByText('The document cannot be read: the server does not answer').waitFor();
    await way.open();
    await page.locator('.passage.wanted, .passage').first().waitFor();
    expect(await page.getByText('The document cannot be read').count()).toBe(0);
  });

  it('progress of indexing is not shown on without a server', async () => {
    const progress = { phase: 'embed', done: 3, total: 10 };
    const places: PagePlace[] = [{ ...ready, state: 'indexing', progress }];
    const { page, way } = await shown(places);
    await tab(page, 'Library');
    await page.getByRole('progressbar').first().waitFor();
    await way.cut();
    await page.getByText('It was being indexed.').waitFor();
    await lost(page).waitFor();
    expect(await page.getByRole('progressbar').count()).toBe(0);
    places[0] = ready;
    await way.open();
    await page.getByText(`${corpus.length} passages`).waitFor();
    await lost(page).waitFor({ state: 'detached' });
  });

  it.each([{ width: 320 }, { width: 320, colorScheme: 'dark' as const }])(
    'what it says fits and can be read: %j',
    async (look) => {
      const { page, way } = await shown([ready], look);
      await query(page).fill('bees');
      await way.cut();
      await query(page).fill('honey');
      await page.getByRole('button', { name: 'Search again' }).waitFor();
      await lost(page).waitFor();
      expect(await findings(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
    },
  );
});
