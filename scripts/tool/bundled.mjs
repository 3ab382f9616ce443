/** npm packages that the monitor's page contains. Like the monitor they are in the development edition only. */
export const bundledPackages = [
  { name: 'preact', use: "draws the monitor's page", licenseFile: 'licenses/preact-MIT.txt' },
];

/** Names of the npm packages among the files of a bundle. */
export function packagesOf(files) {
  const names = files.flatMap((file) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []);
  return [...new Set(names)];
}
