import type { Dispatcher, Pool } from 'undici';

/** A proxy does not pass the request on. */
export class ProxyRefusal extends Error {
  readonly status: number;

  constructor(status: number) {
    const hint = status === 407 ? '; HTTP_PROXY and HTTPS_PROXY may hold a user name and a password' : '';
    super(`the proxy answered ${status}${hint}`);
    this.status = status;
  }
}

/**
 * Makes the connections to a proxy through which undici's ProxyAgent asks for tunnels. undici alone asks a proxy that closes
 * the connection again, without end and without a pause; here the request fails. A refusal says so.
 */
export function tunnels(pool: typeof Pool, headersTimeout: number) {
  return (url: URL, options: object): Dispatcher => {
    const proxy = new pool(url, { ...options, headersTimeout });
    const connect: (asked: Dispatcher.ConnectOptions) => Promise<Dispatcher.ConnectData> =
      proxy.connect.bind(proxy);
    const ask = async (asked: Dispatcher.ConnectOptions): Promise<Dispatcher.ConnectData> => {
      const answer = await connect(asked).catch((error: Error & { code?: string }) => {
        if (error.code === 'UND_ERR_SOCKET' || error.code === 'UND_ERR_INFO')
          throw new Error('the proxy closed the connection');
        throw error;
      });
      if (answer.statusCode === 200) return answer;
      answer.socket.on('error', () => {}).destroy();
      throw new ProxyRefusal(answer.statusCode);
    };
    return Object.assign(proxy, { connect: ask });
  };
}
