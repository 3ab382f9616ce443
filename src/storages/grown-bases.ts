import { stat } from 'node:fs/promises';
import type { KnowledgeBase } from '../knowledge/index.js';
import { fail } from '../protocol/errors.js';
import { type DiskLimits, DiskRoom } from './disk-room.js';
import { diskOf, putOnDisk } from './storage-disk.js';

const fieldsOf = { all: 'storage_writes_max_mb', client: 'storage_writes_client_max_mb' } as const;

/** Counts by how many bytes on disk knowledge bases have grown since a client changed them first, their change logs included. */
export class GrownBases {
  readonly #room: DiskRoom;
  /** Files and bytes of each before its first change, by its records file. */
  readonly #before = new Map<string, { files: readonly string[]; bytes: number }>();

  constructor(limits: () => DiskLimits) {
    this.#room = new DiskRoom({
      bytesOf: async (id) => {
        const before = this.#before.get(id);
        return before === undefined ? 0 : Math.max(0, (await bytesOf(before.files)) - before.bytes);
      },
      known: async () => [],
      limits,
      refuse,
    });
  }

  /** Has changes of a knowledge base count. */
  watch(kb: KnowledgeBase): void {
    if (diskOf(kb) !== undefined) return;
    const { files } = kb.changes;
    const [id] = files;
    // A database has the limits of its operator.
    if (id === undefined) return;
    putOnDisk(kb, {
      take: async (client, more) => {
        const bytes = this.#before.has(id) ? 0 : await bytesOf(files);
        if (!this.#before.has(id)) this.#before.set(id, { files, bytes });
        this.#room.open(client, id);
        return this.#room.take(client, more);
      },
      measure: () => this.#room.measure(id),
    });
  }
}

async function bytesOf(files: readonly string[]): Promise<number> {
  const sizes = await Promise.all(
    files.map((file) =>
      stat(file).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

function refuse(which: keyof DiskLimits, limit: number): never {
  const field = fieldsOf[which];
  const whose = which === 'client' ? 'this client' : 'all clients';
  const problem = `changes of ${whose} may let knowledge bases grow by ${limit / 1024 / 1024} MiB on disk (${field})`;
  const details = { path: 'name', field, limit };
  fail(8022, `name: ${problem}; remove records, or ask the operator for more`, details);
}
