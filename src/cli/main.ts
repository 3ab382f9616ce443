#!/usr/bin/env node
import './closed-debugger.cjs';
import { surviveFileSizeLimit } from './file-size-signal.js';
import { importOneByOne } from './import-one-by-one.js';
import { watchOutput } from './output.js';
import { runCommandLine } from './program.js';

watchOutput();
surviveFileSizeLimit();
// A module that cannot be imported fails the command that needs it, with a message.
await importOneByOne().catch(() => {});
await runCommandLine(process.argv.slice(2));
