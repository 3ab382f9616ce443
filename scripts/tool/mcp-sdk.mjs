import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundledPackages, packagesOf } from './bundled.mjs';
import { root } from './project.mjs';
import { Stop } from './stop.mjs';

/** The SDK compiles JSON Schemas with Ajv, which is half of its code. Schemas of lorekeep are zod's. */
export const withoutAjv = {
  name: 'without-ajv',
  setup(build) {
    build.onResolve({ filter: /^@modelcontextprotocol\/server\/_shims$/ }, () => ({
      path: 'shims',
      namespace: 'lorekeep',
    }));
    build.onLoad({ filter: /.*/, namespace: 'lorekeep' }, () => ({
      contents: `import process from 'node:process';
class DefaultJsonSchemaValidator {
  getValidator() {
    throw new Error('lorekeep has no validator of JSON Schemas');
  }
}
export { DefaultJsonSchemaValidator, process };`,
    }));
  },
};

/** Bundles src/doors/mcp/sdk.ts with the parts of the SDK that it names, in place of the compiled file. zod stays a package. */
export async function bundleMcpSdk() {
  const source = join(root, 'src', 'doors', 'mcp', 'sdk.ts');
  if (!existsSync(source)) return 'no sources';
  const outfile = join(root, 'dist', 'src', 'doors', 'mcp', 'sdk.js');
  const { version } = JSON.parse(
    readFileSync(join(root, 'node_modules', '@modelcontextprotocol', 'server', 'package.json'), 'utf8'),
  );
  const banner = `// @modelcontextprotocol/server ${version}, licenses/mcp-Apache-2.0.txt. Bundled by scripts/tool/mcp-sdk.mjs.`;
  // The compiler writes the file anew only if its source has changed.
  if (existsSync(outfile) && readFileSync(outfile, 'utf8').startsWith(banner)) return 'unchanged';
  const { build } = await import('esbuild');
  const { metafile } = await build({
    entryPoints: [source],
    outfile,
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    target: ['node20.19'],
    external: ['zod', 'zod/*'],
    banner: { js: banner },
    legalComments: 'inline',
    plugins: [withoutAjv],
    metafile: true,
    logLevel: 'warning',
  });
  for (const name of packagesOf(Object.keys(metafile.inputs)))
    if (!bundledPackages.some((bundled) => bundled.name === name))
      throw new Stop(`the SDK of MCP contains ${name}: name it and its licence in scripts/tool/bundled.mjs`);
  const [bytes] = Object.values(metafile.outputs).map((output) => output.bytes);
  return `${Math.ceil(bytes / 1024)} KiB`;
}
