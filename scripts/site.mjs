// `npm run site`: the documentation as a static site in site/dist, with search. Needs an npm registry the first time.
// node scripts/site.mjs [--preview]   with --preview: then serves it on loopback
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { npmCommand, run } from './tool/command.mjs';
import { phase } from './tool/phase.mjs';
import { root } from './tool/project.mjs';
import { runScript } from './tool/stop.mjs';

const site = join(root, 'site');

await runScript('site', async (args) => {
  const { values } = parseArgs({ args, options: { preview: { type: 'boolean', default: false } } });
  const [npm, ...first] = npmCommand();
  if (!existsSync(join(site, 'node_modules', 'vitepress'))) {
    await phase('packages', async () => {
      await run(npm, [...first, 'ci', '--no-audit', '--no-fund'], { cwd: site, quiet: true });
      return 'npm ci';
    });
  }
  rmSync(join(site, 'pages'), { recursive: true, force: true });
  copyPages(join(root, 'docs'), join(site, 'pages'));
  await run(npm, [...first, 'run', 'build'], { cwd: site });
  if (values.preview) await run(npm, [...first, 'run', 'preview'], { cwd: site });
});

/** Copies a folder of pages without the comments that mark generated parts: the site would show them as text. */
function copyPages(from, to) {
  cpSync(from, to, { recursive: true });
  for (const name of readdirSync(to, { recursive: true }).filter((file) => file.endsWith('.md'))) {
    const page = join(to, name);
    writeFileSync(page, readFileSync(page, 'utf8').replace(/^<!-- .* -->\n/gm, ''));
  }
}
