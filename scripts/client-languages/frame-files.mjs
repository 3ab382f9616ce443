// The files of clients/ that follow from the schema of the protocol.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../tool/project.mjs';
import { cFiles } from './c.mjs';
import { csharpFrames } from './csharp.mjs';
import { gdscriptClient, godot4Client } from './gdscript.mjs';
import { protocolModel } from './model.mjs';
import { pythonFrames } from './python.mjs';

/** Returns their texts by path. */
export function frameFiles(schema, errors, version) {
  const model = protocolModel(schema, errors, version);
  const godot = gdscriptClient(model, partsOf('godot'));
  const c = cFiles(model, partsOf('c'));
  return {
    'clients/python/lorekeep/frames.py': pythonFrames(model),
    'clients/c/lorekeep.h': c.header,
    'clients/c/lorekeep.c': c.source,
    'clients/csharp/Frames.gen.cs': csharpFrames(model),
    'clients/godot/lorekeep.gd': godot,
    'clients/godot/lorekeep4.gd': godot4Client(godot),
  };
}

/** The hand-written parts of a client that is one file, by name. */
function partsOf(language) {
  const folder = join(root, 'clients', language, 'parts');
  return Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  );
}
