import { extname } from 'node:path';
import { type Document, type Section, UnreadableDocument } from '../../document.js';
import { flagThatReads } from '../formats.js';
import { unwrapMail } from './tnef.js';

/** Reads a file that came with a mail; undefined for a kind that is not read. @throws UnreadableDocument */
export type ReadAttachment = (name: string, bytes: Buffer) => Promise<Document | undefined>;

/** Endings of files that a mail does not name. */
const endings = new Map([
  ['message/rfc822', '.eml'],
  ['application/pdf', '.pdf'],
  ['text/html', '.html'],
  ['text/plain', '.txt'],
  ['text/csv', '.csv'],
  ['text/calendar', '.ics'],
  ['text/vcard', '.vcf'],
  ['text/x-vcard', '.vcf'],
  ['application/json', '.json'],
  ['application/rtf', '.rtf'],
]);

/** Returns a name for a file that came with a mail, whose ending says its kind. */
export function nameOfFile(name: string | null, mimeType: string): string {
  const ending = endings.get(mimeType) ?? '';
  if (name === null || name.trim() === '') return `${mimeType.split('/')[0] || 'file'}${ending}`;
  return extname(name) === '' ? `${name}${ending}` : name;
}

/** Reads the files that came with one mail. */
export class Attachments {
  readonly sections: Section[] = [];
  readonly problems: string[] = [];
  /** Numbers of the files of other kinds, by ending. */
  readonly leftOut = new Map<string, number>();
  readonly #read: ReadAttachment;

  constructor(read: ReadAttachment) {
    this.#read = read;
  }

  async add(name: string, bytes: Buffer): Promise<void> {
    const before = this.sections.length;
    try {
      const document = await this.#read(name, bytes);
      if (document === undefined) {
        const ending = extname(name).toLowerCase();
        this.leftOut.set(ending, (this.leftOut.get(ending) ?? 0) + 1);
        return;
      }
      const { title } = document;
      const above = title === undefined || title === name ? [name] : [name, title];
      for await (const section of document.sections) {
        const anchor = `attachment=${name}${section.anchor === '' ? '' : `/${section.anchor}`}`;
        const { title: own, ...rest } = section;
        const headings = [...above, ...(own === undefined ? [] : [own]), ...section.headings];
        this.sections.push({ ...rest, headings, anchor });
      }
      const problems = document.problems ?? [];
      const isEmpty = this.sections.slice(before).every(({ blocks }) => blocks.length === 0);
      if (isEmpty && problems.length === 0) this.problems.push(`${name}: has no text`);
      this.problems.push(...problems.map((problem) => `${name}: ${problem}`));
    } catch (error) {
      if (!(error instanceof UnreadableDocument)) throw error;
      this.problems.push(`${name}: ${error.message}`);
    }
  }

  /** Adds the files that Outlook wrapped, and the text if the mail has none. */
  async addWrapped(bytes: Buffer, withBody: boolean): Promise<void> {
    try {
      const { body, files } = unwrapMail(bytes);
      if (withBody && body !== undefined) {
        const document = await this.#read(body.name, body.bytes);
        for await (const section of document?.sections ?? []) this.sections.push(section);
      }
      for (const file of files) await this.add(file.name, file.bytes);
    } catch (error) {
      if (!(error instanceof UnreadableDocument)) throw error;
      this.problems.push(`winmail.dat: ${error.message}`);
    }
  }
}

/** Kinds that a message names. */
const mostKinds = 8;

/** Says which attachments were left out; nothing if there are none. */
export function leftOutText(leftOut: ReadonlyMap<string, number>): string[] {
  if (leftOut.size === 0) return [];
  const kinds = [...leftOut].sort(([, a], [, b]) => b - a).slice(0, mostKinds);
  const named = kinds.map(([ending, count]) => `${count} ${ending.slice(0, 20) || 'without ending'}`);
  const more = leftOut.size > mostKinds ? ', and others' : '';
  const hasPictures = [...leftOut.keys()].some((ending) => flagThatReads(ending) === '--ocr');
  const flag = hasPictures ? '; --ocr reads the text of pictures' : '';
  return [`attachments of other kinds are left out: ${named.join(', ')}${more}${flag}`];
}
