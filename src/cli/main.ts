#!/usr/bin/env node
import { importOneByOne } from './import-one-by-one.js';
import { watchOutput } from './output.js';
import { runCommandLine } from './program.js';

watchOutput();
await importOneByOne();
await runCommandLine(process.argv.slice(2));
