import { Parser } from 'htmlparser2';
import { UnreadableDocument } from '../../document.js';

/** The parser's time grows with the square of the depth. */
const maxDepth = 2000;

type Attributes = Readonly<Record<string, string>>;

export interface XmlHandler {
  open?(name: string, attributes: Attributes): void;
  text?(text: string): void;
  close?(name: string): void;
}

/** Reads XML and tells a handler its elements and texts in order. Names have their prefixes. */
export function readElements(xml: string | undefined, { open, text, close }: XmlHandler): void {
  if (xml === undefined) return;
  let depth = 0;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (++depth > maxDepth) throw new UnreadableDocument('its elements are nested too deeply');
        open?.(name, attributes);
      },
      ontext: (piece) => text?.(piece),
      onclosetag(name) {
        depth--;
        close?.(name);
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.write(xml);
  parser.end();
}

/** Returns the text of the first element of a name. */
export function textOf(xml: string | undefined, wanted: string): string | undefined {
  let inside = false;
  let found: string | undefined;
  readElements(xml, {
    open: (name) => {
      if (name === wanted && found === undefined) inside = true;
    },
    text: (text) => {
      if (inside) found = (found ?? '') + text;
    },
    close: (name) => {
      if (name === wanted) inside = false;
    },
  });
  return found?.trim() || undefined;
}
