import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { entryPath, type OpenPage } from '../../doors/page/entry.js';

/**
 * Writes a file that only this user can read, and that enters the page when a browser opens it: it posts a one-time code, so
 * that no address or command line has it. The file is removed when the code is used or too old. @throws the error of the system
 */
export function writeOpeningFile({ url, entry }: OpenPage): string {
  const folder = mkdtempSync(join(tmpdir(), 'lorekeep-open-'));
  const file = join(folder, 'open.html');
  const code = entry.create(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(file, content(new URL(entryPath, reachable(url)).href, code), { mode: 0o600, flag: 'wx' });
  return file;
}

/** A server that listens on all addresses is reached by the one of this machine. */
const reachable = (url: string) => url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');

/** The code has letters, digits, - and _ only, and the address those of a number. */
const content = (action: string, code: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<title>lorekeep</title>
</head>
<body>
<form method="post" action="${action}">
<input type="hidden" name="code" value="${code}">
<button>Open lorekeep</button>
</form>
<script>document.forms[0].submit();</script>
</body>
</html>
`;
