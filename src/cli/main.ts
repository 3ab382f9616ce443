#!/usr/bin/env node
import { watchOutput } from './output.js';
import { runCommandLine } from './program.js';

watchOutput();
await runCommandLine(process.argv.slice(2));
