import type { FileHandle } from 'node:fs/promises';
import { type Document, type Section, UnreadableDocument } from '../../document.js';
import { linesOf } from '../../tables/lines.js';
import { leftOutText, type ReadAttachment } from './attachments.js';
import { messageOf } from './mail.js';

/** The line above a mail: the sender and the time. Texts also have lines that begin with "From ". */
const separator = /^From \S{1,300} +(?:\S{1,100} +)?(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b.{0,60}\d:\d\d/;

/** Characters of a mail. */
const longestMail = 64 * 1024 * 1024;

/** Mails that cannot be read are named up to this number. */
const mostProblems = 20;

/** Reads the mails of a file one after the other; it may have any length. @throws UnreadableDocument while sections are read */
export function readMailbox(file: FileHandle, readAttachment: ReadAttachment): Document {
  const problems: string[] = [];
  return { sections: sectionsOf(file, readAttachment, problems), problems };
}

async function* sectionsOf(
  file: FileHandle,
  readAttachment: ReadAttachment,
  problems: string[],
): AsyncGenerator<Section> {
  let number = 0;
  const others = new Map<string, number>();
  const report = (problem: string) => {
    if (problems.length < mostProblems) problems.push(`mail ${number}: ${problem}`);
  };
  for await (const bytes of mailsOf(file)) {
    number++;
    if (bytes === undefined) {
      report(`is larger than ${longestMail / 2 ** 20} MiB`);
      continue;
    }
    try {
      const message = await messageOf(bytes, readAttachment);
      const { title, metadata, sections, problems: own, leftOut } = message;
      for (const [ending, count] of leftOut) others.set(ending, (others.get(ending) ?? 0) + count);
      for (const problem of own) report(problem);
      for (const section of sections) {
        const anchor = `mail=${number}${section.anchor === '' ? '' : `/${section.anchor}`}`;
        yield {
          ...section,
          ...(title !== undefined && { title }),
          anchor,
          metadata: { ...metadata, ...section.metadata },
        };
      }
    } catch (error) {
      if (!(error instanceof UnreadableDocument)) throw error;
      report(error.message);
    }
  }
  problems.push(...leftOutText(others));
}

/** The bytes of each mail; undefined for one that is too long. */
async function* mailsOf(file: FileHandle): AsyncGenerator<Buffer | undefined> {
  let lines: string[] | undefined;
  let length = 0;
  let isBlank = true;
  const finish = () => (length > longestMail ? undefined : Buffer.from((lines ?? []).join('\n'), 'latin1'));
  const pieces = file.createReadStream({ autoClose: false, start: 0, encoding: 'latin1' });
  for await (const { text } of linesOf(pieces as AsyncIterable<string>)) {
    if (text === undefined) length = Number.POSITIVE_INFINITY;
    else if (isBlank && separator.test(text)) {
      if (lines !== undefined) yield finish();
      lines = [];
      length = 0;
    } else if (lines === undefined) {
      if (text.trim() !== '')
        throw new UnreadableDocument('is not a mailbox: its first line is not "From ..."');
    } else {
      length += text.length + 1;
      if (length > longestMail) lines = [];
      else lines.push(/^>+From /.test(text) ? text.slice(1) : text);
    }
    isBlank = text !== undefined && text.trim() === '';
  }
  if (lines !== undefined) yield finish();
}
