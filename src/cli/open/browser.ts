import { spawn } from 'node:child_process';

/** The program that opens a file as the user's desktop does, by platform. */
const programs: Partial<Record<NodeJS.Platform, readonly [program: string, ...args: string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Opens a file in the browser. Resolves to whether a program for it has started. */
export function openInBrowser(file: string): Promise<boolean> {
  const [program, ...args] = programs[process.platform] ?? ['xdg-open'];
  return new Promise((resolve) => {
    const child = spawn(program, [...args, file], { stdio: 'ignore', detached: true, windowsHide: true });
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}
