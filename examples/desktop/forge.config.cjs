// The same rules as electron-builder.json, for Electron Forge.
const { FusesPlugin } = require('@electron-forge/plugin-fuses');
const { FuseV1Options, FuseVersion } = require('@electron/fuses');

module.exports = {
  packagerConfig: {
    asar: { unpack: '**/node_modules/**' },
    ignore: [
      /^\/(src|page\/.*\.ts$|tsconfig\.json|electron-builder\.json|forge\.config\.cjs|README\.md)/,
      /^\/node_modules\/lorekeep\/(docs|examples|clients|deploy)\//,
    ],
    osxSign: { optionsForFile: () => ({ hardenedRuntime: true, entitlements: 'entitlements.mac.plist' }) },
    osxNotarize: process.env.APPLE_ID && {
      appleId: process.env.APPLE_ID,
      appleIdPassword: process.env.APPLE_PASSWORD,
      teamId: process.env.APPLE_TEAM,
    },
    windowsSign: process.env.CERTIFICATE && { certificateFile: process.env.CERTIFICATE },
  },
  rebuildConfig: { onlyModules: [] },
  makers: [
    { name: '@electron-forge/maker-squirrel', config: {} },
    { name: '@electron-forge/maker-zip', platforms: ['darwin', 'linux'] },
  ],
  plugins: [
    new FusesPlugin({
      version: FuseVersion.V1,
      [FuseV1Options.RunAsNode]: true,
      [FuseV1Options.EnableNodeOptionsEnvironmentVariable]: false,
      [FuseV1Options.EnableNodeCliInspectArguments]: false,
      [FuseV1Options.EnableCookieEncryption]: true,
      [FuseV1Options.EnableEmbeddedAsarIntegrityValidation]: true,
      [FuseV1Options.OnlyLoadAppFromAsar]: true,
    }),
  ],
};
