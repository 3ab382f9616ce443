import { realpath } from 'node:fs/promises';
import { applyEdits, modify, parse } from 'jsonc-parser';
import { writeWhole } from '../../../lib/basics.js';
import { readText } from '../../base/files/read-text.js';
import { CommandError } from '../failure.js';
import { print } from '../output.js';
import { findConfig } from '../server-config.js';
import { printable } from '../terminal/printable.js';
import type { TelemetryFlags } from './telemetry.js';

/** `lorekeep telemetry off`: edits one value of the server config and keeps the rest of the file as it is. */
export async function telemetryOff({ config: path }: TelemetryFlags): Promise<void> {
  const { config, file, place, sources } = await findConfig(path);
  if (file === undefined) {
    const instead = 'set LOREKEEP_TELEMETRY=0, or make a config with lorekeep init';
    throw new CommandError('CONFIG_INVALID', `${place}: there is no config file to change; ${instead}`);
  }
  if (config.telemetry.enabled) await disable(file, [...sources.values()].includes('file'));
  print(printable(`${file}: telemetry.enabled is false; a running server stops sending after a restart`));
}

/** `isConfig`: whether the file sets a field of a server config. If not, only an empty object is changed. */
async function disable(file: string, isConfig: boolean): Promise<void> {
  const text = await readText(file);
  if (!isConfig && Object.keys(parse(text)).length > 0) {
    const reason = 'sets no field of a server config, so it is left as it is; name the config with --config';
    throw new CommandError('CONFIG_INVALID', `${file}: ${reason}`);
  }
  const formattingOptions = { insertSpaces: true, tabSize: 2, eol: text.includes('\r\n') ? '\r\n' : '\n' };
  const edited = applyEdits(text, modify(text, ['telemetry', 'enabled'], false, { formattingOptions }));
  const checkUnchanged = async () => {
    if ((await readText(file)) === text) return;
    throw new CommandError('IO', `${file}: was changed meanwhile, so it is left as it is; try again`);
  };
  // A link stays a link.
  await writeWhole(await realpath(file), checkUnchanged, edited);
}
