import { z } from 'zod';
import { boolean, choice, fieldFacts, integer, list, map, nonEmptyText, object } from './field-types.js';

const served = () =>
  z
    .string()
    .regex(
      /^[a-z_][a-z0-9_]{0,62}(?:\.[a-z_][a-z0-9_]{0,47})?$/,
      'a schema, or a table as "schema.table", is expected',
    );

/** Databases that knowledge bases may name. src/knowledge/postgres/connection.ts describes the fields. */
export const connectionsSchema = map(
  object({
    type: z.literal('postgres').default('postgres'),
    hosts: list(nonEmptyText())
      .min(1, 'one host at least is expected')
      .max(16, 'at most 16 hosts are expected'),
    database: nonEmptyText(),
    user: nonEmptyText(),
    password_env: nonEmptyText().optional(),
    password_file: nonEmptyText().optional(),
    tls: choice('verify', 'off').default('verify'),
    ca_file: nonEmptyText().optional(),
    insecure: boolean().default(false),
    serves: list(served()).min(1, 'one schema or table at least is expected'),
    writes: boolean().default(false),
    session: choice('any', 'read-write', 'prefer-standby').default('any'),
    pool_size: integer(1, 100).default(4),
    timeout_ms: integer(100, 3_600_000).default(30_000),
    connect_timeout_ms: integer(100, 600_000).default(5000),
    pooler: boolean().default(false),
  }),
)
  .default({})
  .describe(
    'Databases that may keep knowledge bases, by name: docs/guides/postgres.md. They count only in a config that a flag or LOREKEEP_CONFIG names, or that of the installation.',
  )
  .register(fieldFacts, { extension: true });
