/** What Electron's own autoUpdater and that of electron-updater have in common. */
export interface Updater {
  on(event: 'update-downloaded', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  checkForUpdates(): unknown;
  quitAndInstall(): void;
}

/**
 * Looks for an update, and installs it when `wanted` resolves to true. The server ends first: an installer cannot replace
 * libraries that a running process has loaded, and a server of the old version must not meet the new app.
 */
export function installUpdates(
  updater: Updater,
  wanted: () => Promise<boolean>,
  endServer: () => Promise<void>,
): void {
  updater.on('error', (error) => console.error(`no update: ${error.message}`));
  updater.on('update-downloaded', async () => {
    if (!(await wanted())) return;
    await endServer();
    updater.quitAndInstall();
  });
  updater.checkForUpdates();
}
