export const editions = ['development', 'production'];

/** Not in any edition: made on the machine of a developer. */
const local = [/^data\/server-config/, /^data\/\.app-data\//, /^data\/\.models\//, /^sbom\.cdx\.json$/];

/**
 * In the development edition only: the monitor, debug commands, forced crashes, samples and documentation.
 * The addons that can crash on request are left out, too: pack.mjs puts others in their place.
 */
const forDevelopment = [
  /^dist\/src\/(operations\/(monitor|debug)|server\/development)\//,
  /^dist\/lib\/os\/(forced-crash|long-steps)\./,
  /^prebuilds\/[^/]+\/[^/]+\.node$/,
  /^(docs|examples|clients)\//,
  /^(CONTRIBUTING|CHANGELOG)\.md$/,
];

/** Whether a file of the package is in an edition. */
export function isIn(edition, path) {
  const matches = (pattern) => pattern.test(path);
  return !local.some(matches) && (edition === 'development' || !forDevelopment.some(matches));
}

/** The development config that is shipped. It is used with --config only: at its default the server is quiet. */
const developmentConfig = {
  $schema: '../schemas/server-config.schema.json',
  logs_dir: '.app-data/logs',
  models_download_dir: '.app-data/models',
  log_mode: 'dev',
  log_level: 'trace',
  include_interaction_in_diagnostics: true,
  engines: { llm_engine: { backend: 'vulkan' } },
};

/** The same with quiet logging and diagnostics, at the place where the server looks for its config. */
const productionConfig = {
  ...developmentConfig,
  logs_dir: 'logs',
  models_download_dir: '.models',
  log_mode: 'production',
  log_level: 'info',
  include_interaction_in_diagnostics: false,
  include_engine_diagnostics: false,
};

/** The files that an edition has besides the checkout's, by path. */
export function editionFiles(edition) {
  const text = (config) => `${JSON.stringify(config, null, 2)}\n`;
  return edition === 'production'
    ? { 'data/server-config.json': text(productionConfig) }
    : { 'data/server-config.development.json': text(developmentConfig) };
}
