// The cases of each tool. `made`: the text that must be printed; a case fails with an error that does not name the setting.
import { copyFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { neighbours } from './neighbours.mjs';
import { answer } from './project.mjs';

const setting = /keep it out of the bundle|keep lorekeep out of the bundle/;

const esbuild = (project, entry, format, ...flags) => {
  const out = format === 'esm' ? 'out.mjs' : 'out.cjs';
  const options = [
    '--bundle',
    '--platform=node',
    '--log-level=error',
    `--format=${format}`,
    `--outfile=${out}`,
  ];
  const printed = project.run('esbuild', [entry, ...options, ...flags]);
  if (printed !== '') throw new Error(printed);
  return out;
};

const webpackConfig = (externals) => `module.exports = {
  mode: 'production', target: 'node20', entry: './app.mjs', experiments: { outputModule: true },
  externalsType: 'module', externals: ${externals},
  output: { path: __dirname, filename: 'out.mjs', module: true, chunkFormat: 'module', library: { type: 'module' } },
};`;

const viteConfig = (ssr) => `export default {
  build: { ssr: 'app.mjs', outDir: 'out', emptyOutDir: true, target: 'node20' }, logLevel: 'error', ssr: ${ssr},
};`;

function webpack(project, externals) {
  project.write('webpack.config.cjs', webpackConfig(externals));
  project.run('webpack', ['--config', 'webpack.config.cjs']);
  return project.node('out.mjs');
}

function vite(project, ssr) {
  project.write('vite.config.mjs', viteConfig(ssr));
  project.run('vite', ['build']);
  const [program] = readdirSync(join(project.path, 'out'));
  return project.node(join('out', program));
}

/** A blob of Node.js's own single executable applications. lorekeep stays in node_modules beside the program. */
function singleExecutable(project, script) {
  project.write(
    'entry.cjs',
    `const { createRequire } = require('node:module');\nconst load = createRequire(process.execPath);\nload('./${script}');\n`,
  );
  project.write(
    'start.cjs',
    "require('lorekeep/client').startServer().catch(({ message }) => console.log(message));\n",
  );
  project.write(
    'sea.json',
    '{"main": "entry.cjs", "output": "app.blob", "disableExperimentalSEAWarning": true}',
  );
  project.node('--experimental-sea-config', 'sea.json');
  const program = join(project.path, 'product');
  copyFileSync(process.execPath, program);
  const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
  project.run('postject', ['product', 'NODE_SEA_BLOB', 'app.blob', '--sentinel-fuse', fuse]);
  return project.run(program, []);
}

export const cases = [
  {
    tool: 'esbuild',
    packages: ['esbuild'],
    tries: {
      'ESM, lorekeep external': [(p) => p.node(esbuild(p, 'app.mjs', 'esm', '--external:lorekeep')), answer],
      'CommonJS, lorekeep external': [
        (p) => p.node(esbuild(p, 'app.cjs', 'cjs', '--external:lorekeep')),
        answer,
      ],
      'ESM, the client bundled': [(p) => p.node(esbuild(p, 'client.mjs', 'esm')), 'function'],
      'ESM, the client bundled, startServer()': [
        (p) => p.node(esbuild(p, 'client.mjs', 'esm'), 'start'),
        setting,
      ],
      'ESM, lorekeep bundled': [(p) => p.node(esbuild(p, 'app.mjs', 'esm')), setting],
      'CommonJS, lorekeep bundled': [(p) => p.node(esbuild(p, 'app.cjs', 'cjs')), setting],
    },
  },
  {
    tool: 'webpack',
    packages: ['webpack', 'webpack-cli'],
    tries: {
      'lorekeep external': [(p) => webpack(p, '[/^lorekeep/]'), answer],
      'lorekeep bundled': [(p) => webpack(p, '[]'), setting],
    },
  },
  {
    tool: 'vite',
    packages: ['vite'],
    tries: {
      'SSR, as it comes': [(p) => vite(p, '{}'), answer],
      'SSR, lorekeep bundled': [(p) => vite(p, '{ noExternal: true }'), setting],
    },
  },
  {
    tool: 'Node.js SEA',
    packages: ['postject'],
    tries: {
      'node_modules beside the program': [(p) => singleExecutable(p, 'app.cjs'), answer],
      'startServer()': [(p) => singleExecutable(p, 'start.cjs'), /this program is a single executable/],
    },
  },
  {
    tool: 'Bun',
    packages: ['bun', '@oven/bun-linux-x64'],
    tries: {
      'bun app.mjs': [(p) => p.run(bun(p), ['app.mjs']), answer],
      'bun build, lorekeep external': [
        (p) => {
          p.run(bun(p), ['build', 'app.mjs', '--target=node', '--external', 'lorekeep', '--outfile=out.mjs']);
          return p.node('out.mjs');
        },
        answer,
      ],
    },
  },
  {
    tool: 'Deno',
    packages: ['deno', '@deno/linux-x64-glibc'],
    tries: { 'deno run': [(p) => p.run(deno(p), ['run', '-A', '--no-lock', 'app.mjs']), answer] },
  },
  ...neighbours,
];

// The programs of these packages are downloads of their install scripts; the binaries are packages of their own.
const bun = (project) => join(project.path, 'node_modules', '@oven', 'bun-linux-x64', 'bin', 'bun');
const deno = (project) => join(project.path, 'node_modules', '@deno', 'linux-x64-glibc', 'deno');
