export const cppFolders = ['native', 'test/native'];

/** Whose headers each module may include, besides its own. The CMake targets say the same. */
const modules = {
  core: [],
  text: ['core'],
  vector: ['core'],
  filter: ['core'],
  encoder: ['core'],
  quant: ['core'],
  decoder: ['core', 'quant'],
  engine: ['core', 'encoder', 'decoder', 'quant', 'scheduler'],
  store: ['core', 'text', 'vector', 'filter'],
  scheduler: ['core'],
  crash: ['core'],
  lm: ['core', 'decoder', 'engine', 'scheduler'],
  speech: ['core', 'encoder', 'engine', 'scheduler'],
  binding: ['core', 'text', 'vector', 'filter', 'store', 'engine', 'scheduler', 'crash', 'lm', 'speech'],
};

/** Third-party headers and the only place under native/ that may include them. */
const thirdParty = [
  {
    header: /^(napi|node_api|js_native_api|napi-inl)\.h$/,
    place: /^native\/binding\//,
    name: 'native/binding',
  },
  {
    header: /^(llama(-cpp)?|ggml[\w-]*|gguf)\.h$/,
    place: /^(native\/(engine|lm|speech)|test\/native\/plugins)\//,
    name: 'native/engine, native/lm and native/speech',
  },
  {
    header: /^(hnswlib\/.*|hnswlib\.h|hnswalg\.h)$/,
    place: /^(test\/)?native\/vector\//,
    name: 'one file of native/vector, and one of its tests',
  },
  { header: /^simdjson\.h$/, place: /^native\/store\//, name: 'native/store' },
  { header: /^jinja\/\w+\.h$/, place: /^native\/lm\//, name: 'native/lm' },
  { header: /^client\/linux\//, place: /^native\/crash\//, name: 'native/crash' },
  { header: /^whisper\.h$/, place: /^native\/speech\//, name: 'native/speech' },
  { header: /^xxhash\.h$/, place: /^native\/core\//, name: 'native/core' },
];

const includeLine = /^\s*#\s*include\s*(["<])([^">]+)[">]/;
/** The file of native/ and the one of test/ that include hnswlib. */
const hnswlibFiles = {};

/** `lines` of the file `file`, a path like native/text/tokenizer.cc. */
export function checkCppFile(file, lines) {
  const problems = [];
  lines.forEach((text, index) => {
    const include = includeLine.exec(text);
    const message = include && checkInclude(file, include[1] === '"', include[2]);
    if (message) problems.push({ line: index + 1, message });
  });
  return problems;
}

/** The headers of native/ that a file includes. */
export function includedFiles(_file, lines) {
  return lines.flatMap((text) => {
    const include = includeLine.exec(text);
    return include?.[1] === '"' ? [`native/${include[2]}`] : [];
  });
}

function checkInclude(file, quoted, header) {
  const rule = thirdParty.find((entry) => entry.header.test(header));
  if (rule) return checkThirdParty(rule, file, header);
  if (file.startsWith('test/') || !quoted) return undefined;
  const [, own] = file.split('/');
  const [target, rest] = header.split('/');
  if (!(own in modules)) return `native/${own} is not a module that scripts/layers/cpp.mjs knows`;
  if (rest === undefined || !(target in modules)) return `"${header}" is not of the form "module/file.h"`;
  if (target === own || modules[own].includes(target)) return undefined;
  const allowed = modules[own].length > 0 ? `${modules[own].join(', ')} and itself` : 'itself';
  return `native/${own} may include ${allowed}, and this is "${header}"`;
}

function checkThirdParty(rule, file, header) {
  if (!rule.place.test(file)) return `<${header}> belongs in ${rule.name}`;
  if (!rule.name.startsWith('one file')) return undefined;
  const [tree] = file.split('/');
  hnswlibFiles[tree] ??= file;
  if (hnswlibFiles[tree] === file) return undefined;
  return `<${header}> belongs in one file, and ${hnswlibFiles[tree]} includes it already`;
}
