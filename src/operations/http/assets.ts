import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { homeFolder } from '../../base/files/home.js';

export interface Asset {
  readonly type: string;
  readonly content: Buffer;
}

/** By path in the address: name of the file, and its type. */
export type AssetFiles = Readonly<Record<string, readonly [name: string, type: string]>>;

export const htmlType = 'text/html; charset=utf-8';
export const scriptType = 'text/javascript; charset=utf-8';
export const styleType = 'text/css; charset=utf-8';

/** Reads the files that the build has made from web/. `folder`: their folder, below dist/src. @throws the error of the system */
export async function readAssets(
  folder: readonly string[],
  files: AssetFiles,
): Promise<ReadonlyMap<string, Asset>> {
  const assets = new Map<string, Asset>();
  for (const [path, [name, type]] of Object.entries(files))
    assets.set(path, { type, content: await readFile(join(homeFolder, 'dist', 'src', ...folder, name)) });
  return assets;
}
