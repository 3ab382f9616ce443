// Checks the links between Markdown files: in the repository, and in the package that npm would publish. A target must
// exist, and so must its anchor. Every page of docs/ must be in the map, docs/README.md. Network addresses are not visited.
// node scripts/check-links.mjs [--root FOLDER] [--at-least LINKS]
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { parseArgs } from 'node:util';
import { anchors, links } from './links/anchors.mjs';
import { root as ownRoot } from './tool/project.mjs';
import { sourceFiles } from './tool/sources.mjs';
import { runScript, Stop } from './tool/stop.mjs';

await runScript('check-links', (args) => {
  const { values } = parseArgs({
    args,
    options: { root: { type: 'string' }, 'at-least': { type: 'string', default: '100' } },
  });
  const root = values.root ?? ownRoot;
  const inRepository = check(root, markdownFiles(root), (path) => existsSync(join(root, path)), 'repository');
  const packed = new Set(packedFiles(root));
  const inPackage = check(
    root,
    [...packed].filter((path) => path.endsWith('.md') && !path.startsWith('native/vendor/')),
    (path) => packed.has(path) || [...packed].some((file) => file.startsWith(`${path}/`)),
    'package',
  );
  const problems = [...inRepository.problems, ...inPackage.problems, ...missingInMap(root)];
  for (const problem of problems) process.stdout.write(`${problem}\n`);
  const seen = Math.min(inRepository.seen, inPackage.seen);
  if (seen < Number(values['at-least'])) {
    throw new Stop(`only ${seen} links were seen, at least ${values['at-least']} were expected`);
  }
  if (problems.length > 0) throw new Stop(`${problems.length} links are dead`);
  process.stdout.write(
    `check-links: ${inRepository.seen} links of the repository and ${inPackage.seen} of the package lead somewhere\n`,
  );
});

/** Every Markdown file that git tracks or would track. */
function markdownFiles(root) {
  const folders = ['docs', 'bench', 'examples', 'tools', '.github'];
  const pages = readdirSync(root).filter((name) => name.endsWith('.md'));
  return [...pages, ...sourceFiles(root, folders, ['.md'])];
}

function packedFiles(root) {
  const output = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    shell: process.platform === 'win32',
  });
  return JSON.parse(output)[0].files.map(({ path }) => path);
}

/** `has`: whether a path relative to `root` can be reached by readers of `where`. */
function check(root, pages, has, where) {
  const problems = [];
  let seen = 0;
  for (const page of pages) {
    for (const { line, target } of links(readFileSync(join(root, page), 'utf8'))) {
      if (/^[a-z][a-z+.-]*:/i.test(target)) continue;
      seen++;
      const reason = deadBecause(root, page, target, has);
      if (reason) problems.push(`${page}:${line}: ${target}: ${reason} (${where})`);
    }
  }
  return { problems, seen };
}

/** Pages of docs/ that its map does not link. Decision records are linked from their own list. */
function missingInMap(root) {
  const map = join(root, 'docs', 'README.md');
  if (!existsSync(map)) return [];
  const linked = new Set(
    links(readFileSync(map, 'utf8')).map(({ target }) => `docs/${target.split('#')[0]}`),
  );
  return sourceFiles(root, ['docs'], ['.md'])
    .filter(
      (page) =>
        page !== 'docs/README.md' && !/^docs\/internals\/decisions\/\d/.test(page) && !linked.has(page),
    )
    .map((page) => `docs/README.md: the map lacks ${page}`);
}

function deadBecause(root, page, target, has) {
  const [file, anchor] = target.split('#');
  const path =
    file === '' ? page : posix.join(posix.dirname(page), decodeURIComponent(file)).replace(/\/$/, '');
  if (path.startsWith('..')) return 'leaves the project';
  if (!has(path)) return 'there is no such file';
  if (anchor === undefined || !path.endsWith('.md') || statSync(join(root, path)).isDirectory())
    return undefined;
  return anchors(readFileSync(join(root, path), 'utf8')).has(anchor)
    ? undefined
    : `there is no heading for #${anchor}`;
}
