import { writeFileSync } from 'node:fs';
import type { Section } from '../../src/documents/document.js';
import { DocumentReader } from '../../src/documents/reader.js';
import { temporaryFolder } from '../helpers/folder.js';

const file = temporaryFolder();

/** Writes a file, and reads it as `lorekeep index` does. */
export async function read(name: string, content: string | Uint8Array) {
  writeFileSync(file(name), content);
  await using reader = new DocumentReader();
  return reader.read(file(name), async ({ title, sections, problems = [] }) => {
    const found: Section[] = [];
    for await (const section of sections) found.push(section);
    return { title, sections: found, problems };
  });
}

/** The texts of the blocks, in order. */
export const texts = ({ sections }: { readonly sections: readonly Section[] }) =>
  sections.flatMap(({ blocks }) => blocks.map(({ text }) => text));
