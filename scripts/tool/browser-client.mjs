import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packagesOf } from './bundled.mjs';
import { root } from './project.mjs';
import { Stop } from './stop.mjs';

/** What the client uses of Node.js, for browsers. */
const ofNode = { 'node:events': 'export const setMaxListeners = () => {};' };

/**
 * Bundles dist/src/client/browser.js with all that it imports. In place of the schemas of frames it has the names of their fields, and
 * in place of sockets the WebSocket of the browser.
 */
export async function bundleBrowserClient() {
  const dist = join(root, 'dist');
  const entry = join(root, 'src', 'client', 'browser.ts');
  if (!existsSync(entry)) return 'no sources';
  const { build } = await import('esbuild');
  const { metafile, outputFiles } = await build({
    entryPoints: [entry],
    outfile: join(dist, 'src', 'client', 'browser.js'),
    bundle: true,
    minify: true,
    platform: 'browser',
    format: 'esm',
    target: ['es2022'],
    plugins: [forBrowsers(await shapesModule(dist))],
    metafile: true,
    write: false,
    logLevel: 'warning',
  });
  const [unexpected] = packagesOf(Object.keys(metafile.inputs));
  if (unexpected !== undefined) throw new Stop(`the client for browsers contains ${unexpected}`);
  const [{ path, contents }] = outputFiles;
  writeFileSync(path, contents);
  return `${Math.ceil(contents.length / 1024)} KiB`;
}

/** The names of all fields, as src/client/shapes.ts finds them in the schemas. */
async function shapesModule(dist) {
  const url = pathToFileURL(join(dist, 'src', 'client', 'shapes.js')).href;
  const { allShapes } = await import(`${url}?${Date.now()}`);
  const { requests, frames } = allShapes();
  return `const requests = ${JSON.stringify(requests)};
const frames = ${JSON.stringify(frames)};
export const requestShape = (type) => requests[type] ?? null;
export const serverShape = (type) => (Object.hasOwn(frames, type) ? frames[type] : null);`;
}

const forBrowsers = (shapes) => ({
  name: 'for-browsers',
  setup(build) {
    const client = join(root, 'src', 'client');
    build.onResolve({ filter: /^node:/ }, ({ path }) => ({ path, namespace: 'node' }));
    build.onLoad({ filter: /.*/, namespace: 'node' }, ({ path }) => {
      if (ofNode[path] === undefined) throw new Stop(`the client for browsers imports ${path}`);
      return { contents: ofNode[path] };
    });
    build.onResolve({ filter: /\/shapes\.js$/ }, () => ({ path: 'shapes', namespace: 'shapes' }));
    build.onLoad({ filter: /.*/, namespace: 'shapes' }, () => ({ contents: shapes }));
    build.onResolve({ filter: /\/open-transport\.js$/ }, () => ({
      path: join(client, 'browser-transport.ts'),
    }));
    // Only for a server of the same process.
    build.onResolve({ filter: /\/stream-transport\.js$/ }, () => ({ path: 'none', namespace: 'streams' }));
    build.onLoad({ filter: /.*/, namespace: 'streams' }, () => ({
      contents:
        "export class StreamTransport { constructor() { throw new Error('a page has no streams'); } }",
    }));
    // The file of lib/ that all of src/ may import loads much that a page has not.
    build.onResolve({ filter: /lib\/basics\.js$/ }, () => ({
      path: join(root, 'lib', 'boundary', 'on-abort.ts'),
    }));
  },
});
