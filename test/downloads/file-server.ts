import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface SeenRequest {
  path: string;
  range: string | undefined;
  ifRange: string | undefined;
  authorization: string | undefined;
}

/** What the server does with a request before it serves the file; true: it has answered. */
export type Intercept = (request: IncomingMessage, response: ServerResponse, index: number) => boolean;

/** Serves one file on loopback with Range, If-Range and ETag, and records what it is asked. */
export class FileServer {
  content: Buffer;
  etag = '"one"';
  intercept: Intercept = () => false;
  /** Bytes after which a reply is cut off; undefined: never. */
  cutAfter: number | undefined;
  readonly requests: SeenRequest[] = [];
  readonly url: string;

  private constructor(content: Buffer, url: string) {
    this.content = content;
    this.url = url;
  }

  static async listen(content: Buffer): Promise<FileServer> {
    let files: FileServer | undefined;
    const server = createServer((request, response) => files?.serve(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    files = new FileServer(content, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    return files;
  }

  private serve(request: IncomingMessage, response: ServerResponse): void {
    const { range, 'if-range': ifRange, authorization } = request.headers;
    this.requests.push({ path: request.url ?? '', range, ifRange: ifRange as string, authorization });
    if (this.intercept(request, response, this.requests.length - 1)) return;
    const from = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? Number.NaN);
    const total = this.content.length;
    const same = ifRange === undefined || ifRange === this.etag;
    const partly = !Number.isNaN(from) && same;
    if (partly && from >= total) {
      response.writeHead(416).end();
      return;
    }
    const body = partly ? this.content.subarray(from) : this.content;
    response.writeHead(partly ? 206 : 200, {
      'content-length': body.length,
      ...(this.etag !== '' && { etag: this.etag }),
      ...(partly && { 'content-range': `bytes ${from}-${total - 1}/${total}` }),
    });
    if (this.cutAfter === undefined) response.end(body);
    else response.write(body.subarray(0, this.cutAfter), () => response.socket?.end());
  }
}
