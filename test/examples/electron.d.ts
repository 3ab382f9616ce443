/** The part of Electron's types that examples/desktop uses. Electron itself is no dependency of lorekeep. */
declare module 'electron' {
  import type { EventEmitter } from 'node:events';

  interface Event {
    preventDefault(): void;
  }
  interface WebContents extends EventEmitter {
    send(channel: string, ...args: unknown[]): void;
    setWindowOpenHandler(handler: () => { action: 'allow' | 'deny' }): void;
    on(event: 'will-navigate', listener: (event: Event) => void): this;
  }
  interface IpcMainEvent {
    readonly sender: WebContents;
  }
  class BrowserWindow {
    constructor(options: {
      width?: number;
      height?: number;
      webPreferences?: { preload?: string; sandbox?: boolean; contextIsolation?: boolean };
    });
    static getAllWindows(): BrowserWindow[];
    readonly webContents: WebContents;
    loadFile(path: string): Promise<void>;
    focus(): void;
    on(event: 'closed', listener: () => void): this;
  }
  const app: {
    readonly isPackaged: boolean;
    getPath(name: 'userData'): string;
    requestSingleInstanceLock(): boolean;
    whenReady(): Promise<void>;
    quit(): void;
    on(event: 'second-instance' | 'window-all-closed', listener: () => void): void;
    on(event: 'before-quit', listener: (event: Event) => void): void;
  };
  const autoUpdater: {
    setFeedURL(options: { url: string }): void;
    checkForUpdates(): void;
    quitAndInstall(): void;
    on(event: 'update-downloaded', listener: () => void): unknown;
    on(event: 'error', listener: (error: Error) => void): unknown;
  };
  const dialog: {
    showErrorBox(title: string, content: string): void;
    showMessageBox(options: { message: string; buttons: string[] }): Promise<{ response: number }>;
  };
  const ipcMain: {
    handle(channel: string, listener: (event: IpcMainEvent, ...args: unknown[]) => unknown): void;
    on(channel: string, listener: (event: IpcMainEvent, ...args: unknown[]) => void): void;
  };
  const safeStorage: { encryptString(text: string): Buffer; decryptString(encrypted: Buffer): string };
  const contextBridge: { exposeInMainWorld(key: string, api: unknown): void };
  const ipcRenderer: {
    invoke(channel: string, ...args: unknown[]): Promise<unknown>;
    send(channel: string, ...args: unknown[]): void;
    on(channel: string, listener: (event: unknown, piece: string) => void): unknown;
  };
}
