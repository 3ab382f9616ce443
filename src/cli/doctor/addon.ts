import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { type AddonAttempts, addonAttempts } from '../../../lib/basics.js';
import { type Finding, failed, ok, warning } from './finding.js';

/** The facts about an addon that does not load, for programs. */
export interface AddonReport {
  platform: string;
  arch: string;
  libc: string;
  node: string;
  /** The first line of `--version`; null if there is none on PATH. */
  compiler: string | null;
  cmake: string | null;
  tried: { file: string; reason: string | null }[];
  remedy: string;
}

/** Explains why the addon does not load. `reason`: the loader's. */
export async function explainAddon(reason: string): Promise<{ findings: Finding[]; report: AddonReport }> {
  const found = (await addonAttempts()).attemptAddon();
  const libc = libcName(found);
  const compiler = versionOf(compilers());
  const cmake = versionOf(['cmake']);
  const remedy = remedyOf(found, { compiler, cmake });
  const report = {
    platform: process.platform,
    arch: process.arch,
    libc,
    node: process.versions.node,
    compiler,
    cmake,
    tried: found.attempts.map(({ file, problem }) => ({ file, reason: problem?.reason ?? null })),
    remedy,
  };
  const findings = [
    failed('addon', reason, remedy),
    ...attemptFindings(found),
    ok('platform', found.platform),
    ok('libc', libc),
    toolFinding('compiler', compiler, 'a C++20 compiler, such as g++ or clang++'),
    toolFinding('CMake', cmake, 'CMake'),
    ...variableFindings(),
  ];
  return { findings, report };
}

function attemptFindings({ attempts, root, platform, prebuilds }: AddonAttempts): Finding[] {
  if (attempts.length === 0) {
    const others = prebuilds.length === 0 ? 'the package has no prebuilds' : `it has ${prebuilds.join(', ')}`;
    const why = `${root} has no file for ${platform}: ${others}`;
    return [{ subject: 'tried', status: 'failed', message: why }];
  }
  return attempts.map(({ file, problem }) =>
    problem === undefined
      ? ok('tried', `${file} loads`)
      : { subject: 'tried', status: 'failed', message: `${file}: ${problem.reason}` },
  );
}

interface Tools {
  compiler: string | null;
  cmake: string | null;
}

/** Returns the shortest way to an addon that loads. */
function remedyOf(found: AddonAttempts, tools: Tools): string {
  const { attempts, root, isCheckout } = found;
  const [first] = attempts;
  const whole = attempts.find(({ problem }) => problem === undefined);
  const isWithoutPlugin = first !== undefined && first.problem === undefined && !hasPlugin(first.file);
  const { isDamage = isWithoutPlugin, missingLibrary, remedy } = first?.problem ?? {};
  if (remedy !== undefined) return remedy;
  if (first !== undefined && whole !== undefined && whole !== first)
    return `remove ${dirname(first.file)}: ${whole.file} loads`;
  if (missingLibrary !== undefined && !isDamage)
    return `install the package of this system that has ${missingLibrary}`;
  const missing = missingTools(tools);
  const prepare = missing === '' ? '' : `install ${missing}, then `;
  if (isCheckout) return `${prepare}run \`npm run build\``;
  // A prebuild was packed for this platform, and did not arrive whole.
  if (isDamage) return `remove ${root} and run \`npm install\` again: the files are damaged`;
  return `${prepare}run \`${found.compileCommand}\`, which builds it from source`;
}

const hasPlugin = (file: string) => readdirSync(dirname(file)).some((name) => name.includes('ggml-cpu'));

const missingTools = ({ compiler, cmake }: Tools) =>
  [...(compiler === null ? ['a C++20 compiler'] : []), ...(cmake === null ? ['CMake'] : [])].join(' and ');

function toolFinding(subject: string, version: string | null, what: string): Finding {
  if (version !== null) return ok(subject, version);
  return warning(subject, 'not on PATH', `install ${what}, if the addon has to be built from source`);
}

/** Names under which a C++ compiler may be on PATH. CMake finds Visual Studio by itself. */
function compilers(): string[] {
  const { CXX } = process.env;
  return [...(CXX ? [CXX] : []), 'c++', 'g++', 'clang++', ...(process.platform === 'win32' ? ['cl'] : [])];
}

const toolLimitMs = 10_000;

/** Returns the first line that the first of these programs prints about its version; null if none runs. */
function versionOf(programs: readonly string[]): string | null {
  for (const program of programs) {
    const { error, stdout, stderr } = spawnSync(program, ['--version'], {
      encoding: 'utf8',
      timeout: toolLimitMs,
      windowsHide: true,
    });
    const [line] = `${stdout ?? ''}${stderr ?? ''}`.trim().split('\n');
    if (error === undefined && line) return line.trim();
  }
  return null;
}

/** Returns the C library and its version: `glibc 2.36`. */
function libcName({ isMusl }: AddonAttempts): string {
  if (process.platform !== 'linux') return "the system's own";
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  if (header.glibcVersionRuntime !== undefined) return `glibc ${header.glibcVersionRuntime}`;
  return isMusl ? 'musl' : 'unknown';
}

/** Variables that change which files the loader tries. */
function variableFindings(): Finding[] {
  return ['LOREKEEP_PREBUILD', 'PREBUILDS_ONLY', 'LIBC']
    .filter((name) => process.env[name])
    .map((name) => warning('variable', `${name}=${process.env[name]}`, 'unset it to load the usual files'));
}
