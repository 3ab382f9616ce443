// Attacks on the page for people; doors.mjs says what an attack on a door is. `page: true`: the server also has the page, its doors need a
// key, and the storage `own` has hostile texts. The lanes get `code`, a code of the page that nobody has used.
import { host, json, Wire } from './wire.mjs';

/** A text that would run where a page takes it for markup. */
export const hostileText =
  'The bee </script><script>fetch("/hacked")</script><img src=x onerror=fetch("/hacked")> "\'><svg onload=1>';

const search = JSON.stringify({ text: 'bee', name: 'own' });

const evil = 'https://evil.example';
const fromFile = 'origin: null\r\nsec-fetch-site: cross-site\r\n';

/** The text of a request on a connection of its own. */
const request = (method, path, { headers = '', body = '', type = json, named = host } = {}) =>
  `${method} ${path} HTTP/1.1\r\n${named}${body === '' ? '' : type}${headers}connection: close\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

/** The whole answer. `status`: NaN if the server is full, or answers that it is. */
async function answered(tools, text) {
  const wire = await Wire.open(tools.door);
  await wire.send(text);
  await wire.head(tools);
  while (tools.alive() && !wire.closed) await Promise.race([wire.gone, tools.pause(20)]);
  wire.end();
  const { answer } = wire;
  const status = Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
  return { status: [429, 503].includes(status) ? Number.NaN : status, answer };
}

const form = 'content-type: application/x-www-form-urlencoded\r\n';
const entering = (code, more = {}) =>
  request('POST', '/page/enter', { headers: fromFile, body: `code=${code}`, type: form, ...more });

/** Times that the code has worked, and the secret that it gave. */
let entries = 0;
let secret;

async function enter(tools, text) {
  const { status, answer } = await answered(tools, text);
  if (status !== 200) return status;
  if (++entries > 1) tools.found('a code of the page worked twice');
  secret ??= /name="lorekeep-pass" content="([\w-]{43})"/.exec(answer)?.[1];
  if (secret === undefined) tools.found('the answer to a code has no secret');
  return status;
}

/** The secret of the page, once a lane has it. */
async function secretOf(tools) {
  if (tools.lane === 0)
    while (secret === undefined && tools.alive()) await enter(tools, entering(tools.code));
  while (secret === undefined && tools.alive()) await tools.pause(10);
  return secret;
}

/** Ways to use a code that are no use of it. */
const misused = (code) => [
  entering(code, { headers: `origin: ${evil}\r\n` }),
  entering(code, { headers: `origin: ${evil}\r\nsec-fetch-site: cross-site\r\n` }),
  entering(code, { headers: 'sec-fetch-site: cross-site\r\n' }),
  entering(code, { named: 'host: evil.example\r\n' }),
  entering(code, { named: 'host: 127.0.0.1.evil.example\r\n' }),
  entering(code, { type: json }),
  request('GET', `/page/enter?code=${code}`, { headers: fromFile }),
  entering(code, { body: `code=${'x'.repeat(5000)}&code=${code}` }),
  entering('x'.repeat(43)),
  entering(''),
];

/** Requests that must be refused, whoever has the secret of the page. */
const forbidden = (pass) => {
  const own = `authorization: Bearer ${pass}\r\n`;
  const record = JSON.stringify({ text: 'a new one' });
  const forget = JSON.stringify({ ids: ['bee'] });
  return [
    request('GET', '/page/state'),
    request('GET', `/page/state?key=${pass}`),
    request('GET', '/page/state', { headers: `cookie: lorekeep-pass=${pass}\r\n` }),
    request('GET', '/page/state', { headers: `${own}origin: ${evil}\r\n` }),
    request('GET', '/page/state', { headers: own + fromFile }),
    request('GET', '/page/state', { headers: `${own}sec-fetch-site: same-site\r\n` }),
    request('GET', '/page/state', { headers: own, named: 'host: evil.example:9103\r\n' }),
    request('GET', '/', { named: 'host: evil.example\r\n' }),
    request('POST', '/page/ask', { body: JSON.stringify({ text: 'bee', storages: ['own'] }) }),
    request('POST', '/v1/search', { body: search }),
    request('PUT', '/v1/storages/own/records/new', { headers: own, body: record }),
    request('POST', '/v1/storages/own/records/forget', { headers: own, body: forget }),
    request('OPTIONS', '/page/ask', {
      headers: `origin: ${evil}\r\naccess-control-request-method: POST\r\n`,
    }),
  ];
};

/** Requests whose answers quote a text of a document or of the request. */
const quoting = (pass) => {
  const headers = `authorization: Bearer ${pass}\r\n`;
  const post = (path, body) => request('POST', path, { headers, body: JSON.stringify(body) });
  const inPath = encodeURIComponent(hostileText);
  const messages = [{ role: 'user', content: hostileText }];
  return [
    request('GET', '/page/document?storage=own&id=hostile', { headers }),
    request('GET', `/page/document?storage=${inPath}&id=x`, { headers }),
    request('GET', '/page/storages/own', { headers }),
    request('GET', '/v1/storages/own/records/hostile', { headers }),
    request('GET', `/${inPath}`, { headers }),
    request('GET', `/v1/models/${inPath}`, { headers }),
    post('/v1/search', { text: hostileText, name: 'own', highlight: true }),
    post('/page/ask', { text: hostileText, storages: ['own'] }),
    post('/v1/chat/completions', { model: 'own', messages, max_tokens: 8 }),
    post('/v1/chat/completions', { model: hostileText, messages, stream: true }),
  ];
};

/** Why a browser could take an answer with the text for a page; undefined: it cannot. */
function danger(answer) {
  const [head] = answer.split('\r\n\r\n', 1);
  if (/^location:|^content-type: text\/html/im.test(head)) return 'is a page, or leads to one';
  if (!/^x-content-type-options: nosniff\r?$/im.test(head)) return 'has a type that a browser guesses';
  if (!/^content-security-policy: default-src 'none'/im.test(head)) return 'has no content security policy';
  return undefined;
}

const shown = (text) => JSON.stringify(text.slice(0, 160));

/** Sends requests one after another, and tells an answer that `problemOf` finds wrong. */
const each = (name, requestsOf, problemOf) => ({
  ...{ name, lanes: 16, door: true, page: true },
  async lane(tools) {
    const requests = requestsOf(await secretOf(tools));
    for (let at = tools.lane; tools.alive(); at++) {
      const text = requests[at % requests.length];
      const { status, answer } = await answered(tools, text);
      const problem = Number.isNaN(status) ? undefined : problemOf(status, answer);
      if (problem !== undefined) tools.found(`${shown(text)}: the answer ${problem}`);
    }
  },
});

export const pageAttacks = [
  {
    name: 'codes of the page used twice, guessed, and posted by other web pages, 16 clients',
    lanes: 16,
    door: true,
    page: true,
    async lane(tools) {
      const wrong = misused(tools.code);
      for (let at = tools.lane; tools.alive(); at++) {
        const text = wrong[at % wrong.length];
        const { status } = await answered(tools, text);
        if (status === 200) tools.found(`${shown(text)} entered the page`);
        // All lanes at once: one of them enters.
        const used = await enter(tools, entering(tools.code));
        if (![200, 403].includes(used) && !Number.isNaN(used))
          tools.found(`a code was answered with ${used}`);
      }
      if (entries === 0) tools.found('the code of the page never worked');
    },
  },
  each(
    'requests of the page from other web pages, under other names, and beyond its rights, 16 clients',
    forbidden,
    (status) => ([401, 403].includes(status) ? undefined : `has the status ${status}`),
  ),
  each('texts of documents and of requests that want to run as script, 16 clients', quoting, (_, answer) =>
    danger(answer),
  ),
];
