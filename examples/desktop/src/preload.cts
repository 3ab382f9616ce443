import electron = require('electron');

const { contextBridge, ipcRenderer } = electron;

// The page gets these functions and nothing else: no Node.js, no port, no access token.
contextBridge.exposeInMainWorld('assistant', {
  ask: (text: string) => ipcRenderer.invoke('ask', text),
  stop: () => ipcRenderer.send('stop'),
  onPiece: (hear: (piece: string) => void) =>
    ipcRenderer.on('piece', (_event: unknown, piece: string) => hear(piece)),
});
