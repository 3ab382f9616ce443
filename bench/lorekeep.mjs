// The library as it was built: bench/ is a package of its own, so the name `lorekeep` does not resolve here.
export * from '../dist/lib/index.js';
export * from '../dist/src/client/index.js';
export * from '../dist/src/knowledge/index.js';
