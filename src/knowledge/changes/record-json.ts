import {
  checkRecords,
  type FieldDefinition,
  LorekeepError,
  type RecordDefect,
  type StorageRecord,
} from '../../../lib/internal.js';

/** Key of a record in a records file that update() made. Indexing a folder keeps records with it. */
export const originKey = 'lorekeep_origin';

/** Returns a record as the JSON of a records file, in one line. Keys that lorekeep does not know stay. */
export function recordJson(record: StorageRecord, origin: 'update' | 'files'): string {
  const { id, text, metadata, ...others } = record;
  const known = { id, text, ...(metadata !== undefined && { metadata }) };
  return jsonOf({ ...known, ...others, [originKey]: origin === 'update' ? origin : undefined }, 0);
}

/** Deeper values are refused by the rules of records files anyway. */
const deepest = 100;

/** Like JSON.stringify(), but integers beyond 2^53 may be bigints. */
function jsonOf(value: unknown, depth: number): string {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null || depth > deepest) return JSON.stringify(value ?? null);
  if (Array.isArray(value)) return `[${value.map((each) => jsonOf(each, depth + 1)).join(',')}]`;
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  return `{${entries.map(([name, each]) => `${JSON.stringify(name)}:${jsonOf(each, depth + 1)}`).join(',')}}`;
}

/** Records that one call of the addon takes, and their characters: it converts them on this thread. */
const recordsPerCall = 2000;
const charactersPerCall = 1024 * 1024;

function endOfPiece(jsons: readonly string[], begin: number): number {
  let characters = 0;
  let end = begin;
  while (end < jsons.length && end - begin < recordsPerCall && characters < charactersPerCall)
    characters += (jsons[end++] as string).length;
  return end;
}

/** Issues that an error lists. */
const maxIssues = 20;

/** Refuses records that break the rules of records files, in the words of reading one. @throws INVALID_ARGUMENT, CANCELLED */
export async function checkRecordJsons(
  jsons: readonly string[],
  fields: readonly FieldDefinition[] | undefined,
  name: (index: number) => string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const defects: RecordDefect[] = [];
  for (let begin = 0; begin < jsons.length && defects.length <= maxIssues; ) {
    const end = endOfPiece(jsons, begin);
    const most = maxIssues + 1 - defects.length;
    for (const defect of await checkRecords(jsons.slice(begin, end), fields, most, { signal }))
      defects.push({ ...defect, index: begin + defect.index });
    begin = end;
  }
  const [first] = defects;
  if (first === undefined) return;
  const lines = defects.slice(0, maxIssues).map(({ index, field, expected, found }) => {
    const place = field === '' ? name(index) : `${name(index)}: ${field}`;
    return `${place}: expected ${expected}, found ${found}`;
  });
  if (defects.length > maxIssues) lines.push('and more');
  const { index, field, expected, found } = first;
  const facts = { index, field: field || undefined, expected, found, mistakes: defects.length };
  throw new LorekeepError('INVALID_ARGUMENT', lines.join('\n'), { ...facts, issues: lines });
}
