// Records how llama.cpp's own engine renders each template of its models/templates: test/native/lm/templates.expected.
// node tools/golden/record-templates.mjs [--work FOLDER]
import { execFileSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../../scripts/tool/project.mjs';
import { runScript } from '../../scripts/tool/stop.mjs';
import { unpackRelease } from './bundle.mjs';

await runScript('record-templates', async (args) => {
  const { values } = parseArgs({ args, options: { work: { type: 'string' } } });
  const work = values.work ?? join(tmpdir(), 'lorekeep-golden');
  const release = await unpackRelease(work);
  const program = join(work, 'render-templates');
  const common = join(release, 'common');
  const engine = ['lexer', 'parser', 'runtime', 'string', 'value'].map((name) =>
    join(common, 'jinja', `${name}.cpp`),
  );
  const others = ['unicode.cpp', 'json.cpp'].map((name) => join(common, name));
  const includes = [common, join(release, 'vendor'), join(release, 'ggml', 'include')].map(
    (path) => `-I${path}`,
  );
  const own = join(root, 'tools', 'golden', 'render-templates.cc');
  execFileSync('c++', ['-std=c++17', '-O1', '-w', ...includes, own, ...engine, ...others, '-o', program], {
    stdio: 'inherit',
  });
  const folder = join(release, 'models', 'templates');
  const templates = readdirSync(folder)
    .filter((name) => name.endsWith('.jinja'))
    .sort();
  const expected = execFileSync(
    program,
    templates.map((name) => join(folder, name)),
    { maxBuffer: 2 ** 26, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const target = join(root, 'test', 'native', 'lm', 'templates.expected');
  writeFileSync(target, expected);
  process.stdout.write(
    `record-templates: ${templates.length} templates, ${expected.length} bytes in ${target}\n`,
  );
});
