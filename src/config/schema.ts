import { z } from 'zod';

/** Marks fields whose relative values resolve against the config file's folder, defaults against the home folder. */
export const pathFields = z.registry<{ path: true }>();

/** server-config.json: the one source of its fields, types, defaults, ranges and descriptions. */
export const configSchema = z.strictObject({
  port: z.int().min(0).max(65_535).default(9100).describe('TCP port on 127.0.0.1; 0 takes a free one.'),
  models_catalog_path: z
    .string()
    .min(1)
    .default('data/models.json')
    .describe('The model catalog. The server does not start without one.')
    .register(pathFields, { path: true }),
  storage_root: z
    .string()
    .default('')
    .describe('What the paths of storages start at; empty: the folder of the server.')
    .register(pathFields, { path: true }),
  log_level: z
    .enum(['trace', 'debug', 'info', 'warn', 'error'])
    .default('info')
    .describe('Least level logged.'),
  include_interaction_in_diagnostics: z
    .boolean()
    .default(false)
    .describe("Whether diagnostics carry the interaction's components, for agents that enabled diagnostics."),
  max_frame_mb: z.int().min(1).max(1024).default(64).describe('Largest frame payload, either way, in MiB.'),
});

export type ServerConfig = z.output<typeof configSchema>;
