import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from '../tool/project.mjs';

const limit = 256 * 1024 * 1024;
const protocol = (name) => import(pathToFileURL(join(root, 'dist', 'src', 'protocol', name)).href);

/** A connection whose requests are answered one group at a time. */
export class Exchange {
  static async open(port) {
    const { FrameDecoder } = await protocol('decoder.js');
    const { encodeFrame } = await protocol('encoder.js');
    const socket = connect({ host: '127.0.0.1', port });
    const exchange = new Exchange(socket, new FrameDecoder(limit), encodeFrame);
    await once(socket, 'connect');
    return exchange;
  }

  constructor(socket, decoder, encode) {
    this.socket = socket;
    this.encode = encode;
    this.frames = [];
    this.look = () => {};
    socket.on('data', (chunk) => {
      decoder.push(chunk);
      for (let frame = decoder.next(); frame !== undefined; frame = decoder.next())
        this.frames.push(JSON.parse(frame.payload.toString()));
      this.look();
    });
  }

  /** Sends requests together and returns every frame until all of them are answered, by the order of the requests. */
  async send(...requests) {
    for (const request of requests) this.socket.write(this.encode(request, limit));
    await this.until((frames) => requests.every((request) => isAnswered(request, frames)));
    const frames = this.frames.splice(0);
    return requests.length === 1 ? frames : frames.toSorted((a, b) => (a.reply_to ?? 0) - (b.reply_to ?? 0));
  }

  /** Returns the frames that come without a request, once there are so many. */
  async receive(count) {
    await this.until((frames) => frames.length >= count);
    return this.frames.splice(0);
  }

  until(enough) {
    return new Promise((resolve, reject) => {
      this.look = () => enough(this.frames) && resolve();
      this.socket.once('close', () => reject(new Error('the server closed the connection of a sample')));
      this.look();
    });
  }

  close() {
    this.socket.destroy();
  }
}

function isAnswered({ id, type }, frames) {
  const reply = frames.find((frame) => frame.reply_to === id);
  if (reply === undefined || type !== 'TurnRequest' || reply.type === 'Error') return reply !== undefined;
  return frames.some((frame) => frame.type === 'TurnComplete' && frame.turn_id === reply.turn_id);
}

/**
 * Returns the block of a page with today's replies: the requests of its lines that begin with `>` are sent, each run of them
 * together. Diagnostics are long and have times, so they stay `{...}`.
 */
export async function transcript(exchange, block) {
  const lines = [];
  if (block.startsWith('< {"type":"Hello"')) lines.push(...shown(await exchange.receive(1)));
  for (const group of requestGroups(block)) {
    lines.push(...group);
    const requests = group
      .join('\n')
      .split(/^> /m)
      .filter((text) => text !== '');
    lines.push(...shown(await exchange.send(...requests.map((text) => JSON.parse(text)))));
  }
  return lines.join('\n');
}

const shown = (frames) =>
  frames.map((frame) => {
    const text = JSON.stringify({ ...frame, ...(frame.diagnostics && { diagnostics: '...' }) });
    return `< ${text.replace('"diagnostics":"..."', '"diagnostics":{...}')}`;
  });

/** The runs of request lines, with their continuation lines, which begin with spaces. */
function requestGroups(block) {
  const groups = [];
  let open = false;
  for (const line of block.split('\n')) {
    const isRequest = /^(> | )/.test(line);
    if (isRequest && !open) groups.push([]);
    if (isRequest) groups.at(-1).push(line);
    open = isRequest;
  }
  return groups;
}
