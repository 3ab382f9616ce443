import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The program that every tool has to make and run. It prints `answer`. */
const program = `
const models = await CatalogModels.open();
const strings = ['The ferry leaves on Tuesdays.', 'Error E-4017 means that the lid is open.'];
const storage = await createStorage({ strings, model: await models.resolve('all-MiniLM-L6-v2') });
const { hits } = await storage.search({ text: 'When can I travel?', topK: 1 });
console.log(hits[0].text);
await models.close();
`;
export const answer = 'The ferry leaves on Tuesdays.';

/** A user's project with the packed package installed, and tools added as they are needed. */
export class Project {
  /** `tarball`: the packed package. */
  constructor(tarball) {
    this.path = mkdtempSync(join(tmpdir(), 'lorekeep-bundlers-'));
    this.env = { ...process.env, NODE_ENV: 'production', LOREKEEP_CACHE: join(this.path, 'cache') };
    this.write('package.json', '{"name": "product", "version": "1.0.0", "private": true}');
    const names = "{ CatalogModels, createStorage } from 'lorekeep/knowledge-base'";
    this.write('app.mjs', `import ${names};\n${program}`);
    this.write(
      'client.mjs',
      "import { connect, startServer } from 'lorekeep/client';\nconsole.log(typeof connect);\nif (process.argv[2] === 'start') await startServer();\n",
    );
    this.write(
      'app.cjs',
      `const { CatalogModels, createStorage } = require('lorekeep/knowledge-base');\n(async () => {${program}})();\n`,
    );
    this.npm('install', tarball);
  }

  npm(...args) {
    const options = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts'];
    execFileSync('npm', [...args, ...options], { cwd: this.path, stdio: ['ignore', 'ignore', 'inherit'] });
  }

  /** Installs tools, and returns the version of the first. */
  add(...packages) {
    const [first] = packages;
    if (first === undefined) return '';
    this.npm('install', '--save-dev', ...packages);
    const name = first.replace(/(?<=.)@[^@/]*$/, '');
    return JSON.parse(readFileSync(join(this.path, 'node_modules', name, 'package.json'), 'utf8')).version;
  }

  write(name, text) {
    writeFileSync(join(this.path, name), text);
  }

  /** Runs a program of node_modules/.bin, or an absolute one; returns all that it prints. */
  run(command, args, options = {}) {
    const file = command.includes('/') ? command : join(this.path, 'node_modules', '.bin', command);
    const { stdout, stderr, error } = spawnSync(file, args, {
      cwd: this.path,
      env: this.env,
      encoding: 'utf8',
      timeout: 120_000,
      ...options,
    });
    if (error !== undefined) throw error;
    return `${stdout}${stderr}`;
  }

  node(...args) {
    return this.run(process.execPath, args);
  }

  remove() {
    rmSync(this.path, { recursive: true, force: true });
  }
}
