import { type Block, type Document, type Section, UnreadableDocument } from '../../document.js';
import { withWindowsCharacters } from '../../files/single-bytes.js';
import { readText } from '../text.js';
import { Attachments, leftOutText, nameOfFile, type ReadAttachment } from './attachments.js';
import { isWrappedMail } from './tnef.js';

/** The part of postal-mime that is used. */
interface PostalMime {
  parse(bytes: Uint8Array, options: typeof limits): Promise<Mail>;
}

interface Address {
  name?: string;
  address?: string | undefined;
  group?: readonly Address[] | undefined;
}

interface Mail {
  from?: Address;
  to?: readonly Address[];
  cc?: readonly Address[];
  subject?: string;
  date?: string;
  messageId?: string;
  inReplyTo?: string;
  references?: string;
  text?: string;
  html?: string;
  attachments: readonly {
    filename: string | null;
    mimeType: string;
    related?: boolean;
    content: ArrayBuffer | Uint8Array | string;
  }[];
}

/** A mail with its sections, read to the end. */
export interface Message {
  title: string | undefined;
  metadata: Record<string, unknown>;
  sections: Section[];
  problems: string[];
  /** Numbers of the files of other kinds, by ending. */
  leftOut: ReadonlyMap<string, number>;
}

/** Bounds of one mail. */
const limits = {
  maxNestingDepth: 50,
  maxHeadersSize: 1024 * 1024,
  // Mails within mails are read as attachments: the parser reads each of them again for each mail around it.
  maxRfc822NestingDepth: 0,
};
const mostAttachments = 1000;

/** Lines that may begin a part. The parser takes about 0.1 ms for a part, however short it is. */
const mostParts = 20_000;

/** Longest value of a field of the metadata, in characters. */
const longestField = 1000;

/** Reads a mail in a file of its own. @throws UnreadableDocument */
export async function readMail(bytes: Buffer, readAttachment: ReadAttachment): Promise<Document> {
  const { leftOut, problems, ...message } = await messageOf(bytes, readAttachment);
  return { ...message, problems: [...problems, ...leftOutText(leftOut)] };
}

/** Reads one mail: its head, its text, and the files that came with it. @throws UnreadableDocument */
export async function messageOf(bytes: Buffer, readAttachment: ReadAttachment): Promise<Message> {
  const mail = await parsed(bytes);
  const title =
    withWindowsCharacters(mail.subject ?? '')
      .replace(/\s+/g, ' ')
      .trim()
      .slice(0, longestField) || undefined;
  const sections = await bodyOf(mail);
  const hasText = sections.length > 0;
  const head = headOf(mail);
  const [first] = sections;
  if (first?.anchor === '') sections[0] = { ...first, blocks: [...head, ...first.blocks] };
  else if (head.length > 0) sections.unshift({ headings: [], anchor: '', blocks: head });
  const read = new Attachments(readAttachment);
  for (const { filename, mimeType, related, content } of mail.attachments.slice(0, mostAttachments)) {
    if (related === true || typeof content === 'string') continue;
    const file = Buffer.from(content instanceof Uint8Array ? content : new Uint8Array(content));
    if (isWrappedMail(file)) await read.addWrapped(file, !hasText);
    else await read.add(nameOfFile(filename, mimeType), file);
  }
  const { problems, leftOut } = read;
  return { title, metadata: metadataOf(mail), sections: [...sections, ...read.sections], problems, leftOut };
}

/** Returns the number of lines that may begin or end a part, at most one more than `most`. */
function partsIn(bytes: Buffer, most: number): number {
  let count = 0;
  for (let at = bytes.indexOf('\n--'); at >= 0 && count <= most; at = bytes.indexOf('\n--', at + 3)) count++;
  return count;
}

async function parsed(bytes: Buffer): Promise<Mail> {
  if (partsIn(bytes, mostParts) > mostParts && /boundary/i.test(bytes.toString('latin1')))
    throw new UnreadableDocument(`has more than ${mostParts} parts, or lines that may begin one`);
  // Its name is no literal, so that the compiler does not need its types.
  const name = 'postal-mime';
  const { default: parser } = (await import(name as string)) as { default: PostalMime };
  try {
    const mail = await parser.parse(bytes, limits);
    if (mail.from !== undefined || mail.subject !== undefined || mail.date !== undefined) return mail;
  } catch (cause) {
    throw new UnreadableDocument(`is not a readable mail: ${(cause as Error).message}`, { cause });
  }
  throw new UnreadableDocument('is not a mail: it has no sender, subject and date');
}

/** A plain text that is this many times shorter than that of the page beside it stands for it, such as "Your program shows no HTML". */
const standIn = 4;

async function bodyOf(mail: Mail): Promise<Section[]> {
  const text = withWindowsCharacters(mail.text ?? '');
  const html = withWindowsCharacters(mail.html ?? '');
  const plain = text.trim() === '' ? [] : sectionsOf(readText(text));
  if (html.trim() === '') return plain;
  if (html.length < text.length * standIn && plain.length > 0) return plain;
  const page = sectionsOf((await import('../html/html.js')).readHtml(html));
  return lengthOf(page) > lengthOf(plain) * standIn ? page : plain;
}

const sectionsOf = ({ sections }: Document): Section[] => [...(sections as Iterable<Section>)];

const lengthOf = (sections: readonly Section[]) =>
  sections.flatMap(({ blocks }) => blocks).reduce((sum, { text }) => sum + text.length, 0);

function headOf(mail: Mail): Block[] {
  const lines = [
    ['From', mail.from && nameOf(mail.from)],
    ['To', namesOf(mail.to)],
    ['Cc', namesOf(mail.cc)],
    ['Date', mail.date],
  ] as const;
  return lines
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([name, value]) => ({ kind: 'item', text: `${name}: ${value}` }));
}

function metadataOf(mail: Mail): Record<string, unknown> {
  const sent = Date.parse(mail.date ?? '');
  const from = mail.from && nameOf(mail.from);
  const to = namesOf(mail.to);
  const thread = (mail.references ?? mail.inReplyTo ?? mail.messageId)?.trim().split(/\s+/)[0];
  return {
    ...(from && { from }),
    ...(to && { to }),
    ...(Number.isFinite(sent) && { sent }),
    ...(thread && { thread: thread.slice(0, longestField) }),
  };
}

function nameOf({ name = '', address = '', group }: Address): string {
  const shown = name === '' || address === '' ? name || address : `${name} <${address}>`;
  return withWindowsCharacters(group === undefined ? shown : `${name}: ${namesOf(group)}`).slice(
    0,
    longestField,
  );
}

const namesOf = (addresses: readonly Address[] = []): string =>
  addresses.slice(0, 100).map(nameOf).join(', ').slice(0, longestField);
