/** How a connection reaches its database, as the operator declares it in the server's config. */
export interface PostgresConnection {
  /** Names or addresses, each with a port if it is not 5432; tried in turn. */
  hosts: readonly string[];
  database: string;
  user: string;
  /** Environment variable with the password. */
  password_env?: string | undefined;
  /** File with the password; a relative path starts at the config's folder. */
  password_file?: string | undefined;
  /** "off": nothing is encrypted, which another machine needs `insecure` for. */
  tls?: 'verify' | 'off' | undefined;
  /** PEM file with the certificates that are trusted, instead of those of the system. */
  ca_file?: string | undefined;
  /** Allows `tls` "off" to another machine. */
  insecure?: boolean | undefined;
  /** Schemas, and tables as "schema.table", that knowledge bases may name. */
  serves: readonly string[];
  /** Whether knowledge bases may be pushed and changed. */
  writes?: boolean | undefined;
  /** Which servers of `hosts` are used. */
  session?: 'any' | 'read-write' | 'prefer-standby' | undefined;
  pool_size?: number | undefined;
  /** Longest time of a statement, in ms. */
  timeout_ms?: number | undefined;
  connect_timeout_ms?: number | undefined;
  /** Whether a pooler such as PgBouncer shares the server's connections among transactions: nothing is prepared then. */
  pooler?: boolean | undefined;
}

export interface HostPort {
  readonly host: string;
  readonly port: number;
}

/** Returns host and port of "db.example", "db.example:5433" or "[::1]:5433"; undefined for another text. */
export function hostPort(text: string): HostPort | undefined {
  const [, bracketed, plain, port = '5432'] =
    /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const number = Number(port);
  return host === undefined || number < 1 || number > 65_535 ? undefined : { host, port: number };
}

const isLoopback = (host: string) => host === 'localhost' || host === '::1' || /^127\.[\d.]+$/.test(host);

/** Returns the defect of a connection whose fields are well-formed, with the field; undefined if there is none. */
export function connectionMistake(given: PostgresConnection): { field: string; reason: string } | undefined {
  const wrong = given.hosts.findIndex((host) => hostPort(host) === undefined);
  if (wrong >= 0) return { field: `hosts[${wrong}]`, reason: 'a host such as "db.example:5432" is expected' };
  const { password_env, password_file, tls = 'verify', insecure, ca_file } = given;
  if (password_env !== undefined && password_file !== undefined)
    return { field: 'password_file', reason: 'one of "password_env" and "password_file" is expected' };
  if (tls === 'off' && ca_file !== undefined)
    return { field: 'ca_file', reason: 'it has no effect with "tls": "off"' };
  const far = given.hosts.some((host) => !isLoopback((hostPort(host) as HostPort).host));
  if (tls === 'off' && far && insecure !== true)
    return {
      field: 'tls',
      reason: '"verify" is expected for another machine; "insecure": true allows "off"',
    };
  return undefined;
}
