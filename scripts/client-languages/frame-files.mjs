// The files of clients/ that follow from the schema of the protocol.
import { protocolModel } from './model.mjs';
import { pythonFrames } from './python.mjs';

/** Returns their texts by path. */
export function frameFiles(schema, errors, version) {
  const model = protocolModel(schema, errors, version);
  return {
    'clients/python/lorekeep/frames.py': pythonFrames(model),
  };
}
