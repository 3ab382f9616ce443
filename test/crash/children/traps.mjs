// argv: folder of the dumps. 20,000 WebAssembly loads out of bounds, with the crash handler in place.
import { startCrashDumps } from '../../../dist/src/operations/crash/crash-dumps.js';

startCrashDumps({ crash_dump: { enabled: true, dir: process.argv[2] }, logs_dir: '' }, console);
// (module (memory 1) (func (export "load") (param i32) (result i32) local.get 0 i32.load))
const code = Uint8Array.from([
  ...[0, 97, 115, 109, 1, 0, 0, 0, 1, 6, 1, 96, 1, 127, 1, 127, 3, 2, 1, 0, 5, 3, 1, 0, 1],
  ...[7, 8, 1, 4, 108, 111, 97, 100, 0, 0, 10, 9, 1, 7, 0, 32, 0, 40, 2, 0, 11],
]);
const { load } = new WebAssembly.Instance(new WebAssembly.Module(code)).exports;
let errors = 0;
for (let i = 0; i < 20_000; i++) {
  try {
    load(-1 - i * 4);
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError) errors++;
  }
}
console.log(`${errors} errors`);
