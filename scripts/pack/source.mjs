import { packageJson } from '../tool/project.mjs';

/** The checkout's files and folders that the source package is made of. */
export const sourceParts = [
  'native',
  'CMakeLists.txt',
  'LICENSE',
  'licenses',
  'scripts/source-package',
  'scripts/tool',
  'scripts/vendor',
];

/** Its files in npm's terms: what no build of the addon reads stays out. */
const files = [
  ...sourceParts,
  '!native/vendor/.*',
  '!native/vendor/llama.cpp-backends',
  '!native/vendor/llama.cpp-models',
  '!native/vendor/breakpad-tools',
  '!native/vendor/silero-vad',
  '!native/vendor/breakpad/**/*_unittest.cc',
  '!native/vendor/breakpad/breakpad/src/common/{dwarf_,language,module,stabs_,test_assembler}*',
  '!native/vendor/breakpad/breakpad/src/common/linux/{dump_symbols,elf_symbols,google_crashdump,http_upload,libcurl,symbol_,synth_elf}*',
  '!native/vendor/llama.cpp/ggml/src/ggml-cpu/arch/{loongarch,powerpc,riscv,s390,wasm}',
];

/** package.json of the source package. It has lorekeep's version: JavaScript and addon belong together. */
export function sourceManifest() {
  const { version, license, engines, binary, devDependencies } = packageJson();
  const { 'cmake-js': cmakeJs, 'node-addon-api': nodeAddonApi } = devDependencies;
  return {
    name: '@lorekeep/source',
    version,
    description:
      'The C++ sources of lorekeep, compiled at installation where lorekeep has no prebuild that fits.',
    license,
    type: 'module',
    engines,
    binary,
    bin: { 'lorekeep-source': 'scripts/source-package/build.mjs' },
    files,
    scripts: { install: 'node scripts/source-package/build.mjs --if-needed' },
    dependencies: { 'cmake-js': cmakeJs, 'node-addon-api': nodeAddonApi },
    peerDependencies: { lorekeep: version },
  };
}

/** README.md of the source package. */
export const sourceReadme = `# @lorekeep/source

The C++ sources of the npm package lorekeep. Install it beside lorekeep, in the same version, where lorekeep has no
prebuild for your platform: it compiles the addon at installation, with a C++20 compiler and CMake on PATH. Where
the prebuild loads it compiles nothing.

If your package manager does not run install scripts, run \`npx @lorekeep/source\`.
\`LOREKEEP_CPU_VARIANTS=all\` compiles for every processor of the platform instead of this one,
\`LOREKEEP_BUILD_FROM_SOURCE=1\` compiles even where the prebuild loads.
`;
