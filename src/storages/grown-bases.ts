import type { BaseDisk } from '../knowledge/changes/public.js';
import type { KnowledgeBase } from '../knowledge/index.js';
import { fail } from '../protocol/errors.js';
import { type DiskLimits, DiskRoom } from './disk-room.js';
import { mergeIfSmaller } from './merge-if-smaller.js';
import { diskOf, putOnDisk } from './storage-disk.js';

const fieldsOf = { all: 'storage_writes_max_mb', client: 'storage_writes_client_max_mb' } as const;

/** Counts by how many bytes on disk knowledge bases have grown since a client changed them first, their change logs included. */
export class GrownBases {
  readonly #room: DiskRoom;
  /** Each with its bytes before its first change, by its records file. */
  readonly #before = new Map<string, { disk: BaseDisk; bytes: number }>();
  /** Those that were changed last, by their records file. */
  readonly #bases = new Map<string, WeakRef<KnowledgeBase>>();

  constructor(limits: () => DiskLimits) {
    this.#room = new DiskRoom({
      bytesOf: async (id) => {
        const before = this.#before.get(id);
        return before === undefined ? 0 : Math.max(0, (await before.disk.bytes()) - before.bytes);
      },
      known: async () => [],
      limits,
      shrink: async (id) => {
        const kb = this.#bases.get(id)?.deref();
        return kb !== undefined && (await mergeIfSmaller(kb));
      },
      refuse,
    });
  }

  /** Has changes of a knowledge base count. */
  watch(kb: KnowledgeBase): void {
    if (diskOf(kb) !== undefined) return;
    const { disk } = kb.changes;
    // A database has the limits of its operator.
    if (disk === undefined) return;
    const { records: id } = disk;
    putOnDisk(kb, {
      take: async (client, more) => {
        this.#bases.set(id, new WeakRef(kb));
        const bytes = this.#before.has(id) ? 0 : await disk.bytes();
        if (!this.#before.has(id)) this.#before.set(id, { disk, bytes });
        this.#room.open(client, id);
        return this.#room.take(client, more);
      },
      measure: () => this.#room.measure(id),
    });
  }
}

function refuse(which: keyof DiskLimits, limit: number): never {
  const field = fieldsOf[which];
  const whose = which === 'client' ? 'this client' : 'all clients';
  const problem = `changes of ${whose} may let knowledge bases grow by ${limit / 1024 / 1024} MiB on disk (${field})`;
  const details = { path: 'name', field, limit };
  fail(8022, `name: ${problem}; remove records, or ask the operator for more`, details);
}
