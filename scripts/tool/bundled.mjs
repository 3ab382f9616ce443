/** npm packages that files of dist/ contain, and the editions that have these files. */
export const bundledPackages = [
  {
    name: 'preact',
    use: 'draws the pages',
    licenseFile: 'licenses/preact-MIT.txt',
    editions: ['development', 'production'],
  },
  ...['@modelcontextprotocol/server', '@modelcontextprotocol/core'].map((name) => ({
    name,
    use: 'MCP, for `lorekeep mcp` and `/mcp`',
    licenseFile: 'licenses/mcp-Apache-2.0.txt',
    editions: ['development', 'production'],
  })),
];

/** Folders of the npm packages among the files of a bundle, sorted. */
export function packageFolders(files) {
  const folders = files.flatMap((file) => /.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []);
  return [...new Set(folders)].sort();
}

/** Names of the npm packages among the files of a bundle. */
export function packagesOf(files) {
  const names = packageFolders(files).map((folder) => folder.replace(/.*node_modules\//, ''));
  return [...new Set(names)];
}
