#!/usr/bin/env node
import { quietBrokenPipes } from './output.js';
import { runCommandLine } from './program.js';

quietBrokenPipes();
await runCommandLine(process.argv.slice(2));
