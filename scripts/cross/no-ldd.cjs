// Preloaded into Node.js for musl on a system with glibc: parts of the test runner look for musl in the text of ldd first.
const fs = require('node:fs');
const { readFileSync } = fs;
fs.readFileSync = (path, ...options) => {
  if (path === '/usr/bin/ldd') throw Object.assign(new Error(`no ${path} for musl`), { code: 'ENOENT' });
  return readFileSync(path, ...options);
};
require('node:module').syncBuiltinESMExports();
