import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Browser, Locator, Page, Response } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { browserPath, launch } from '../monitor/browser.js';
import { lorekeep, program } from './command.js';

if (browserPath === undefined)
  console.log('left out: the page in a browser; the Debian package chromium is not installed');

const inFolder = temporaryFolder();
const env = () => ({ ...process.env, LOREKEEP_STATE: inFolder('state'), TMPDIR: inFolder('tmp') });
const service = 'Anna Holm services the telescope in Gozo every five weeks.';
const hostile = '<img src=x onerror="globalThis.hacked=1"><script>globalThis.hacked=1</script>';

beforeAll(() => {
  mkdirSync(inFolder('tmp'));
  mkdirSync(inFolder('docs', 'guides'), { recursive: true });
  const gozo = `# The Gozo telescope\n\nIt stands on a hill.\n\n## Service\n\n${service} Visitors come on Fridays.\n`;
  writeFileSync(inFolder('docs', 'gozo.md'), gozo);
  writeFileSync(inFolder('docs', 'guides', 'bees.txt'), 'Bees find flowers by their colour.\n');
  writeFileSync(inFolder('docs', 'hostile.txt'), `The hostile text: ${hostile} ends here.\n`);
  mkdirSync(inFolder('notes'));
  writeFileSync(inFolder('notes', 'carla.md'), '# Malta\n\nCarla Moretti services the telescope in Malta.\n');
});

interface Opened {
  child: ChildProcess;
  printed(): string;
  url: string;
  file: string;
}

/** Starts `lorekeep open --no-open`, and resolves when it has said how to open the page. */
async function openPage(...args: string[]): Promise<Opened> {
  const child = spawn(process.execPath, [program, 'open', '--no-open', ...args], {
    cwd: inFolder(),
    env: env(),
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => (printed += piece));
  await expect.poll(() => printed, { timeout: 60_000 }).toMatch(/file:\S+/);
  const file = fileURLToPath(/file:\S+/.exec(printed)?.[0] ?? '');
  return { child, printed: () => printed, url: /http:\S+/.exec(printed)?.[0] ?? '', file };
}

describe('lorekeep open', () => {
  it('writes a file for this user alone, and removes it when it ends with Ctrl-C', async () => {
    const { child, file, url, printed } = await openPage('docs');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
    const code = /name="code" value="([\w-]{43})"/.exec(readFileSync(file, 'utf8'))?.[1] ?? 'none';
    expect(printed()).not.toContain(code);
    expect((await fetch(`${url}v1/storages`)).status).toBe(401);
    child.kill('SIGINT');
    const [status] = await once(child, 'exit');
    expect(status).toBe(0);
    expect(existsSync(file)).toBe(false);
  });

  it('refuses places that do not exist', async () => {
    const { status, stderr } = await lorekeep(['open', 'nowhere'], { cwd: inFolder(), env: env() });
    expect(status).toBe(1);
    expect(stderr).toContain('nowhere: there is no such folder or knowledge base');
    const file = await lorekeep(['open', 'docs/gozo.md'], { cwd: inFolder(), env: env() });
    expect(file.stderr).toContain('docs/gozo.md: is neither a folder nor a knowledge base (a .json file)');
  });
});

describe.skipIf(browserPath === undefined)('the page in a browser', () => {
  let browser: Browser;
  let axe: string;

  beforeAll(async () => {
    axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
    browser = await launch();
  });
  afterAll(() => browser?.close());

  /** Opens the page of folders from its file, and waits until they can be searched. Whatever the browser reports fails the test. */
  async function enter(...places: string[]) {
    const opened = await openPage(...places);
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    onTestFinished(() => page.close());
    const problems: string[] = [];
    const addresses: string[] = [];
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) problems.push(message.text());
    });
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('request', (request) => addresses.push(request.url()));
    await page.goto(`file://${opened.file}`);
    await page.waitForURL(opened.url);
    await page.getByPlaceholder('Search your documents').waitFor();
    await page.getByText('Loading.', { exact: true }).waitFor({ state: 'detached' });
    await page.locator('.notice').first().waitFor({ state: 'detached' });
    return { ...opened, page, problems, addresses };
  }

  const query = (page: Page) => page.getByPlaceholder('Search your documents');
  const hits = (page: Page) => page.getByRole('list', { name: 'Hits' }).getByRole('button');
  const document = (page: Page) => page.getByRole('complementary', { name: 'Document' });
  const active = (page: Page, property: string) => page.evaluate(`document.activeElement.${property}`);
  const isTooWide = (page: Page) => page.evaluate('document.documentElement.scrollWidth > innerWidth');

  /** Enters a query, and waits until its hits are shown: those of its beginning may come first. */
  async function search(page: Page, text: string, enterText = (field: Locator) => field.fill(text)) {
    const isOfQuery = (response: Response) =>
      response.url().endsWith('/v1/search') && response.request().postDataJSON().text === text;
    const answered = page.waitForResponse(isOfQuery);
    await enterText(query(page));
    await answered;
    await page.getByText(/^The best|^\d+ hits?|^Nothing/).waitFor();
  }

  /** Opens a tab, and waits until it is shown. */
  async function openTab(page: Page, name: string) {
    await page.getByRole('tab', { name }).click();
    await page.getByRole('tabpanel', { name }).waitFor();
  }

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

  it('searches while one types, shows the document at the hit, and why', async () => {
    const { page, file, url, addresses, problems, printed } = await enter('docs');
    await expect.poll(() => existsSync(file)).toBe(false);
    const text = 'who services the telescope';
    await search(page, text, (field) => field.pressSequentially(text));
    await hits(page).first().getByText('gozo.md › Service').waitFor();
    await hits(page).first().locator('mark').getByText('services', { exact: true }).first().waitFor();
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => active(page, 'className')).toBe('hit');
    await page.keyboard.press('Enter');
    await document(page).getByText('Visitors come on Fridays.').waitFor();
    await document(page).getByText('It stands on a hill.').waitFor();
    await document(page).locator('.wanted mark').getByText('services', { exact: true }).first().waitFor();
    await page.keyboard.press('Escape');
    await document(page).waitFor({ state: 'detached' });
    await expect.poll(() => active(page, 'className')).toBe('hit');
    await page.getByText('Why this hit').first().click();
    await page.getByText(/It is the 1st nearest by meaning/).waitFor();
    const secret = (await page.evaluate('sessionStorage.getItem("lorekeep-pass")')) as string;
    expect(secret).toMatch(/^[\w-]{43}$/);
    for (const address of addresses) {
      expect(address.startsWith(url) || address.startsWith('file:'), address).toBe(true);
      expect(address).not.toContain(secret);
    }
    expect(printed()).not.toContain(secret);
    expect(await page.evaluate('document.cookie')).toBe('');
    expect(problems).toEqual([]);
  });

  it('says why a document cannot be read', async () => {
    const { page } = await enter('docs');
    await page.route('**/page/document?*', (route) => {
      const error = { message: 'the storage has no such record' };
      return route.fulfill({ status: 404, contentType: 'application/json', body: JSON.stringify({ error }) });
    });
    await search(page, 'who services the telescope');
    await hits(page).first().click();
    await page.getByText('The document cannot be read: the storage has no such record').waitFor();
    expect(await document(page).getByText('Loading the document.').count()).toBe(0);
    await page.unroute('**/page/document?*');
    await page.keyboard.press('Escape');
    await hits(page).first().click();
    await document(page).getByText('Visitors come on Fridays.').waitFor();
    expect(await document(page).getByRole('alert').count()).toBe(0);
  });

  it('a late answer to an older query never replaces a newer one', async () => {
    const { page } = await enter('docs');
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/v1/search', async (route) => {
      const { text } = route.request().postDataJSON() as { text: string };
      if (text === 'telescope') await held;
      await route.continue().catch(() => {});
    });
    const asked = page.waitForRequest('**/v1/search');
    await query(page).fill('telescope');
    await asked;
    await search(page, 'bees flowers');
    await hits(page).first().getByText('bees.txt').first().waitFor();
    release();
    // A third search ends after the first one could have been shown.
    await search(page, 'bees flowers colour');
    await hits(page).first().getByText('bees.txt').first().waitFor();
  });

  it('waits for the end of a composition of an input method', async () => {
    const { page } = await enter('docs');
    const searched: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/v1/search'))
        searched.push((request.postDataJSON() as { text: string }).text);
    });
    await query(page).focus();
    // The browser may end a composition by itself: whatever it has ended is a query.
    await page.evaluate(`
      globalThis.finished = [];
      for (const type of ['compositionend', 'input'])
        addEventListener(type, (event) => {
          if (type === 'compositionend' || !event.isComposing) finished.push(event.target.value);
        });
    `);
    const input = await page.context().newCDPSession(page);
    for (const text of ['b', 'be', 'bee']) {
      await input.send('Input.imeSetComposition', {
        text,
        selectionStart: text.length,
        selectionEnd: text.length,
      });
      // Longer than the page rests before it searches for what was typed.
      await page.waitForTimeout(300);
    }
    await input.send('Input.insertText', { text: 'bees' });
    await hits(page).first().getByText('bees.txt').first().waitFor();
    await expect.poll(() => page.evaluate('finished')).toContain('bees');
    const finished = (await page.evaluate('finished')) as string[];
    expect(finished.length).toBeLessThan(5);
    for (const text of searched) expect(finished).toContain(text);
  });

  it('Enter that finishes a word of an input method asks nothing, and Escape closes nothing', async () => {
    const { page } = await enter('docs');
    await search(page, 'who services the telescope');
    await hits(page).first().click();
    await document(page).waitFor();
    const press = (key: string, given: object) => {
      const init = JSON.stringify({ key, bubbles: true, cancelable: true, ...given });
      return page.evaluate(`document.activeElement.dispatchEvent(new KeyboardEvent('keydown', ${init}))`);
    };
    await query(page).focus();
    await press('Escape', { isComposing: true });
    await document(page).getByText('Visitors come on Fridays.').waitFor();
    await press('Escape', {});
    await document(page).waitFor({ state: 'detached' });
    await openTab(page, 'Ask');
    const field = page.getByPlaceholder('Ask your documents');
    await field.fill('Who services the telescope?');
    await field.focus();
    // As Chromium and Firefox tell it, and as Safari does.
    await press('Enter', { isComposing: true });
    await press('Enter', { keyCode: 229 });
    expect(await field.inputValue()).toBe('Who services the telescope?');
    await press('Enter', { keyCode: 13 });
    await expect.poll(() => field.inputValue()).toBe('');
    await page.getByRole('heading', { name: 'Sources' }).waitFor();
  });

  it('progress of indexing is shown, until the folder can be searched', async () => {
    const { page } = await enter('docs', 'notes');
    let shown = {};
    let isReal = false;
    await page.route('**/page/state', async (route) => {
      if (isReal) return route.continue();
      const state = await (await route.fetch()).json();
      const [docs, notes] = state.places;
      await route.fulfill({ json: { ...state, places: [{ ...docs, ...shown }, notes] } });
    });
    const docs = page.locator('.notice').filter({ hasText: 'docs' });
    shown = { state: 'waiting' };
    await page.reload();
    await docs.getByText('Waiting to be indexed.').waitFor();
    shown = { state: 'indexing' };
    await docs.getByText('Loading the embedding model.').waitFor();
    shown = { state: 'indexing', progress: { phase: 'files', done: 3, total: 12 } };
    await docs.getByText('reading files 3 of 12').waitFor();
    shown = { state: 'indexing', progress: { phase: 'embed', done: 1500, total: 3000 } };
    const bar = docs.getByRole('progressbar', { name: 'docs: embedding' });
    await expect.poll(() => bar.getAttribute('value')).toBe('1500');
    expect(await bar.getAttribute('max')).toBe('3000');
    expect(await seriousFindings(page)).toEqual([]);
    isReal = true;
    await docs.waitFor({ state: 'detached' });
    await search(page, 'who services the telescope in Gozo');
    await hits(page).first().getByText('gozo.md › Service').waitFor();
  });

  it('filters are made from the fields', async () => {
    const { page } = await enter('docs');
    await search(page, 'bees and the telescope');
    await hits(page).nth(1).waitFor();
    await page.getByText('Filters').filter({ visible: true }).click();
    await page.getByRole('group', { name: 'path' }).getByLabel('guides/bees.txt').check();
    await expect.poll(() => hits(page).count()).toBe(1);
    await hits(page).first().getByText('guides/bees.txt').waitFor();
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    await expect.poll(() => hits(page).count()).toBeGreaterThan(1);
  });

  it('texts of documents never run as script', async () => {
    const { page, problems } = await enter('docs');
    await search(page, 'the hostile text');
    await hits(page).first().click();
    await document(page).getByText('onerror=').waitFor();
    await openTab(page, 'Ask');
    await page.getByPlaceholder('Ask your documents').fill(`what is the hostile text ${hostile}`);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Sources' }).waitFor();
    expect(await page.evaluate('globalThis.hacked')).toBeUndefined();
    expect(problems).toEqual([]);
  });

  it('answers with citations that open their sentence, in several folders', async () => {
    const { page } = await enter('docs', 'notes');
    await openTab(page, 'Ask');
    await page.getByPlaceholder('Ask your documents').fill('Who services the telescope in Gozo?');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: service }).click();
    await expect.poll(() => document(page).locator('mark').allTextContents()).toEqual([service]);
    await page.getByLabel('In').filter({ visible: true }).selectOption('notes');
    await page.getByPlaceholder('Ask your documents').fill('Who services the telescope?');
    await page.getByRole('button', { name: 'Ask' }).click();
    await page.getByRole('button', { name: 'Carla Moretti services the telescope in Malta.' }).last().click();
    await document(page).getByRole('heading', { name: 'Malta' }).first().waitFor();
    await openTab(page, 'Library');
    await page.getByRole('heading', { name: 'notes' }).waitFor();
    await page.getByRole('table', { name: 'Models' }).getByText('all-MiniLM-L6-v2').waitFor();
  });

  it('is for screen readers, phones and the dark', async () => {
    const { page, problems } = await enter('docs', 'notes');
    // A name that no screen is wide enough for.
    await page.route('**/page/storages/docs', async (route) => {
      const storage = await (await route.fetch()).json();
      const fields = [...storage.fields, { ...storage.fields[0], name: 'n'.repeat(120) }];
      await route.fulfill({ json: { ...storage, fields } });
    });
    await page.reload();
    await page.locator('.notice').first().waitFor({ state: 'detached' });
    await search(page, 'who services the telescope in Gozo');
    await page.getByText('Filters').filter({ visible: true }).click();
    await page.getByText('Why this hit').first().click();
    for (const [colorScheme, width] of [
      ['light', 1280],
      ['dark', 360],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 800 });
      for (const tab of ['Search', 'Ask', 'Library']) {
        await openTab(page, tab);
        expect(await seriousFindings(page), `${tab}, ${colorScheme}`).toEqual([]);
        await expect.poll(() => isTooWide(page), { message: tab }).toBe(false);
      }
      await openTab(page, 'Search');
      await hits(page).first().click();
      await document(page).getByText('Visitors come on Fridays.').waitFor();
      expect(await seriousFindings(page), `document, ${colorScheme}`).toEqual([]);
      await page.evaluate('location.hash = "library"');
      await page.getByRole('heading', { name: 'Models' }).waitFor();
      await document(page).waitFor({ state: 'hidden' });
      await page.evaluate('location.hash = "search"');
      await document(page).waitFor();
      if (width < 400) await expect.poll(() => active(page, 'id')).toBe('document-name');
      await page.keyboard.press('Escape');
      await expect.poll(() => active(page, 'className')).toBe('hit');
    }
    expect(problems).toEqual([]);
  });

  it('the focus is always somewhere: a document that closes gives it back, or the tab takes it', async () => {
    const { page } = await enter('docs');
    await page.setViewportSize({ width: 360, height: 800 });
    await search(page, 'who services the telescope in Gozo');
    await hits(page).first().click();
    await document(page).waitFor();
    await page.getByRole('button', { name: 'Close' }).press('Enter');
    await expect.poll(() => active(page, 'className')).toBe('hit');
    await hits(page).first().click();
    await document(page).waitFor();
    // The hit is on another tab by now.
    await page.evaluate('location.hash = "ask"');
    await page.getByRole('tabpanel', { name: 'Ask', includeHidden: true }).waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => active(page, 'id')).toBe('tab-Ask');
  });

  it('a tab without a secret asks for one', async () => {
    const { url } = await openPage('docs');
    const page = await browser.newPage();
    onTestFinished(() => page.close());
    await page.goto(url);
    await page.getByText('This tab has no key.').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByLabel('Key').fill('a-wrong-key-of-some-length');
    await page.getByRole('button', { name: 'Enter' }).click();
    await page.getByRole('alert').getByText('is wrong').waitFor();
  });
});
