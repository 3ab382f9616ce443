import { StartupError } from '../../config/startup-error.js';
import { type Asset, htmlType, readAssets, scriptType, styleType } from '../../operations/http/assets.js';
import type { Exchange } from '../http/exchange.js';
import type { Route } from '../http/route.js';
import { entryPath, type PageEntry } from './entry.js';

const files = {
  '/': ['index.html', htmlType],
  '/page/app.js': ['app.js', scriptType],
  '/page/app.css': ['app.css', styleType],
  '/page/enter.js': ['enter.js', scriptType],
} as const;

/** The page's own files only; no text may become markup or script. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const headers = {
  'content-security-policy': policy,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
};

/** Longest form with a code, in bytes. */
const longestForm = 1024;

/** The routes of the page's files and of its entry. @throws StartupError if the package is without the page */
export async function pageFileRoutes(entry: PageEntry): Promise<Route[]> {
  let assets: ReadonlyMap<string, Asset>;
  try {
    assets = await readAssets(['doors', 'page', 'files'], files);
  } catch {
    throw new StartupError('http.page: this package has no page; install it again, or switch it off');
  }
  const routes = [...assets].map(([path, asset]) => fileRoute(path, asset));
  return [...routes, entryRoute(entry)];
}

const fileRoute = (path: string, { type, content }: Asset): Route => ({
  ...{ method: 'GET', path, right: undefined },
  operation: `page_file ${path}`,
  summary: 'A file of the page.',
  serve: async (exchange) => exchange.sendContent(content, { ...headers, 'content-type': type }),
});

/** Takes the code of the file that `lorekeep open` writes, and hands the page its secret. */
const entryRoute = (entry: PageEntry): Route => ({
  ...{ method: 'POST', path: entryPath, right: undefined, fromFile: true },
  operation: 'page_enter',
  summary: 'Enters the page with a one-time code.',
  serve: async (exchange) => {
    const form = await exchange.form(longestForm);
    if (!entry.redeem(form.get('code') ?? '')) return refuseCode(exchange);
    const pass = exchange.host.issuePass({ rights: new Set(['search', 'chat']), key: 'page' });
    const content = entered.replace('PASS', pass);
    exchange.sendContent(content, { ...headers, 'content-type': htmlType });
  },
});

const head = (title: string) =>
  `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/page/app.css">
`;

/** The pass has letters, digits, - and _ only. */
const entered = `${head('lorekeep')}<meta name="lorekeep-pass" content="PASS">
<script type="module" src="/page/enter.js"></script>
</head>
<body><main><p>Opening lorekeep.</p><noscript><p>The page needs JavaScript.</p></noscript></main></body>
</html>
`;

const refused = `${head('lorekeep: this code is no longer valid')}</head>
<body><main><h1>This code is no longer valid</h1>
<p>It works once, and for two minutes. Press Enter in the terminal of <code>lorekeep open</code> to open the page again.</p></main></body>
</html>
`;

function refuseCode(exchange: Exchange): void {
  exchange.client.log.warn('page: a code was unknown, used or too old');
  exchange.sendContent(refused, { ...headers, 'content-type': htmlType }, 403);
}
