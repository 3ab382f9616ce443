import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Runs `work` while no other process of ours works in the CMake tree `tree`: two would corrupt each other's objects. */
export async function withTreeLock(tree, work) {
  const lock = `${tree}.lock`;
  mkdirSync(join(tree, '..'), { recursive: true });
  let told = false;
  while (!acquire(lock)) {
    const pid = holder(lock);
    if (Number.isNaN(pid)) continue; // it was taken away
    if (!told) process.stdout.write(`waiting for another build in ${tree} (process ${pid})\n`);
    told = true;
    await sleep(300);
  }
  try {
    return await work();
  } finally {
    rmSync(lock, { force: true });
  }
}

function acquire(lock) {
  const own = `${lock}.${process.pid}`;
  writeFileSync(own, String(process.pid));
  try {
    linkSync(own, lock); // written first and linked then, so that nobody finds it empty
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  } finally {
    rmSync(own);
  }
  // A holder that was killed cannot take its lock away.
  if (!isAlive(holder(lock))) rmSync(lock, { force: true });
  return false;
}

function holder(lock) {
  try {
    return Number(readFileSync(lock, 'utf8'));
  } catch {
    return Number.NaN;
  }
}

function isAlive(pid) {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
