import { execFileSync, spawnSync } from 'node:child_process';

/** Two machines on one wire: network namespaces of Linux, joined by a veth pair. */
export class Namespaces {
  readonly server: string;
  readonly client: string;

  private constructor(name: string) {
    this.server = `${name}s`;
    this.client = `${name}c`;
  }

  /** Why they cannot be made here, or undefined. */
  static missing(): string | undefined {
    if (process.platform !== 'linux') return 'network namespaces are of Linux';
    if (process.getuid?.() !== 0) return 'making network namespaces needs root';
    const probe = `lkp${process.pid}`;
    if (spawnSync('ip', ['netns', 'add', probe]).status !== 0) return '`ip netns add` does not work here';
    spawnSync('ip', ['netns', 'del', probe]);
    return undefined;
  }

  /**
   * The server's machine has 10.77.0.1/24, 203.0.113.1/24, fd77::1/64 and a link-local address. The client's has .2 and
   * ::2 of each, and 198.51.100.2 and 2001:db8:9::2, which the server's machine reaches by a route only.
   */
  static make(): Namespaces {
    const made = new Namespaces(`lk${process.pid}`);
    const { server, client } = made;
    const serverLink = `${server}0`;
    const clientLink = `${client}0`;
    for (const name of [server, client]) ip('netns', 'add', name);
    ip(
      'link',
      'add',
      serverLink,
      'netns',
      server,
      'type',
      'veth',
      'peer',
      'name',
      clientLink,
      'netns',
      client,
    );
    for (const [name, link] of [
      [server, serverLink],
      [client, clientLink],
    ] as const) {
      const host = name === server ? '1' : '2';
      for (const address of [`10.77.0.${host}/24`, `203.0.113.${host}/24`, `fd77::${host}/64`])
        ip('-n', name, 'address', 'add', address, 'dev', link, ...(address.includes(':') ? ['nodad'] : []));
      ip('-n', name, 'address', 'add', `fe80::77:${host}/64`, 'dev', link, 'nodad');
      ip('-n', name, 'link', 'set', 'lo', 'up');
      ip('-n', name, 'link', 'set', link, 'up');
    }
    ip('-n', client, 'address', 'add', '198.51.100.2/32', 'dev', 'lo');
    ip('-n', client, 'address', 'add', '2001:db8:9::2/128', 'dev', 'lo', 'nodad');
    ip('-n', server, 'route', 'add', '198.51.100.2', 'via', '10.77.0.2');
    ip('-n', server, 'route', 'add', '2001:db8:9::2', 'via', 'fd77::2');
    return made;
  }

  /** The client's link, for link-local addresses. */
  get clientLink(): string {
    return `${this.client}0`;
  }

  remove(): void {
    for (const name of [this.server, this.client]) spawnSync('ip', ['netns', 'del', name]);
  }
}

function ip(...args: string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] });
}
