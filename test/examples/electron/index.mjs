// Stands for Electron in the test of examples/desktop: what its main process uses, without windows.
import { EventEmitter } from 'node:events';

class App extends EventEmitter {
  isPackaged = false;
  getPath() {
    return process.env.USER_DATA;
  }
  requestSingleInstanceLock() {
    return true;
  }
  async whenReady() {
    // As in Electron, not before the main module has run.
    await new Promise((resolve) => setImmediate(resolve));
  }
  /** Nothing ends the process here: it must have nothing left to do. */
  quit() {
    let held = false;
    this.emit('before-quit', {
      preventDefault: () => {
        held = true;
      },
    });
    if (!held) process.stdout.write('quit\n');
  }
}

const handlers = new Map();
const listeners = new EventEmitter();

export const app = new App();
export const autoUpdater = new EventEmitter();
export const dialog = {
  showErrorBox(title, content) {
    throw new Error(`${title}: ${content}`);
  },
};
export const ipcMain = {
  handle: (channel, handler) => handlers.set(channel, handler),
  on: (channel, listener) => listeners.on(channel, listener),
};
export const safeStorage = {
  encryptString: (text) => Buffer.from(text).map((byte) => byte ^ 0xff),
  decryptString: (encrypted) => Buffer.from(encrypted.map((byte) => byte ^ 0xff)).toString(),
};
export class BrowserWindow extends EventEmitter {
  webContents = Object.assign(new EventEmitter(), { setWindowOpenHandler() {} });
  static getAllWindows() {
    return [];
  }
  async loadFile() {}
}

/** As a page calls the main process; resolves with the pieces that came before the end. */
export async function invoke(channel, ...args) {
  const pieces = [];
  await handlers.get(channel)({ sender: { send: (_channel, piece) => pieces.push(piece) } }, ...args);
  return pieces;
}
