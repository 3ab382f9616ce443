import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { app, autoUpdater, BrowserWindow, dialog, ipcMain, safeStorage } from 'electron';
import { Assistant } from './assistant.js';
import { installUpdates } from './updates.js';

/** Where your updates are; empty: none are looked for. electron-builder: import `autoUpdater` from electron-updater. */
const updateFeed = '';

const page = join(import.meta.dirname, '..', '..', 'page', 'index.html');
const dataDir = join(app.getPath('userData'), 'lorekeep');
const secretFile = join(app.getPath('userData'), 'memory.secret');

let assistant: Promise<Assistant> | undefined;
let quitting = false;

/** The server of this app; a new one if the last one has ended. */
function running(): Promise<Assistant> {
  assistant ??= start();
  return assistant;
}

async function start(): Promise<Assistant> {
  try {
    const started = await Assistant.start({
      dataDir,
      secret: existsSync(secretFile) ? safeStorage.decryptString(readFileSync(secretFile)) : undefined,
      keepSecret: (secret) => writeFileSync(secretFile, safeStorage.encryptString(secret), { mode: 0o600 }),
    });
    void started.ended.then(() => {
      assistant = undefined;
    });
    return started;
  } catch (error) {
    assistant = undefined;
    throw error;
  }
}

/** Ends the server, if there is one. */
async function end(): Promise<void> {
  quitting = true;
  await assistant?.then(
    (started) => started.close(),
    () => {},
  );
}

function openWindow(): void {
  const window = new BrowserWindow({
    width: 720,
    height: 560,
    webPreferences: {
      preload: join(import.meta.dirname, 'preload.cjs'),
      sandbox: true,
      contextIsolation: true,
    },
  });
  window.webContents.setWindowOpenHandler(() => ({ action: 'deny' }));
  window.webContents.on('will-navigate', (event) => event.preventDefault());
  window.on('closed', () => question?.abort());
  void window.loadFile(page);
}

/** The question that is being answered. The next one, `stop` and the end of the window cancel it. */
let question: AbortController | undefined;

async function answer(text: unknown, hear: (piece: string) => void): Promise<void> {
  if (typeof text !== 'string') throw new Error('a text is expected');
  if (quitting) throw new Error('the app is quitting');
  question?.abort();
  const current = new AbortController();
  question = current;
  try {
    await (await running()).ask(text, hear, current.signal);
  } catch (error) {
    if (!current.signal.aborted) throw error;
  }
}

function begin(): void {
  ipcMain.handle('ask', ({ sender }, text: unknown) => answer(text, (piece) => sender.send('piece', piece)));
  ipcMain.on('stop', () => question?.abort());
  openWindow();
  running().catch((error: unknown) => dialog.showErrorBox('The server did not start', String(error)));
  if (updateFeed === '' || !app.isPackaged) return;
  autoUpdater.setFeedURL({ url: updateFeed });
  installUpdates(autoUpdater, askForRestart, end);
}

async function askForRestart(): Promise<boolean> {
  const buttons = ['Restart now', 'Later'];
  const { response } = await dialog.showMessageBox({ message: 'An update is ready.', buttons });
  return response === 0;
}

app.on('second-instance', () => BrowserWindow.getAllWindows()[0]?.focus());
app.on('window-all-closed', () => app.quit());
app.on('before-quit', (event) => {
  if (quitting) return;
  event.preventDefault();
  void end().then(() => app.quit());
});

// A second start shows the window of the first: two servers would share one memory. Electron is ready only after this module
// has run, so that it must not await that.
if (app.requestSingleInstanceLock()) void app.whenReady().then(begin);
else app.quit();
