import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';

const guide = readFileSync(join(import.meta.dirname, '../../docs/guides/mcp.md'), 'utf8');
const started = { command: 'npx', args: ['-y', 'lorekeep', 'mcp', '/home/ada/notes'] };

/** Reads the part of TOML that the guide uses: tables, and values that JSON writes in the same way. */
function parseToml(text: string): unknown {
  const root: Record<string, unknown> = {};
  let table = root;
  for (const line of text.split('\n').filter((each) => each.trim() !== '')) {
    const [, header] = /^\[([\w.-]+)\]$/.exec(line) ?? [];
    const [, key, value] = /^([\w-]+) = (.+)$/.exec(line) ?? [];
    if (header !== undefined) {
      table = root;
      for (const part of header.split('.')) {
        table[part] ??= {};
        table = table[part] as Record<string, unknown>;
      }
    } else if (key !== undefined && value !== undefined) table[key] = JSON.parse(value);
    else throw new Error(`no TOML of the guide: ${line}`);
  }
  return root;
}

const parsers: Readonly<Record<string, (text: string) => unknown>> = {
  json: JSON.parse,
  toml: parseToml,
  yaml: parseYaml,
};

/** The configurations of a section, by host: each stands below a line that begins with the host's name and a comma. */
function configurations(section: string): Record<string, unknown> {
  const [, text = ''] = guide.split(`\n## ${section}\n`);
  const [part = ''] = text.split('\n## ');
  const pieces = part.split('```');
  const found: Record<string, unknown> = {};
  for (let at = 1; at < pieces.length; at += 2) {
    const [host = ''] = pieces[at - 1]?.trim().split('\n\n').at(-1)?.split(',') ?? [];
    const [, language = '', block = ''] = /^(\w+)\n([\s\S]*)$/.exec(pieces[at] ?? '') ?? [];
    found[host] = parsers[language]?.(block);
  }
  return found;
}

describe('docs/guides/mcp.md', () => {
  it('has configurations of the usual hosts that start the command, in the form of each', () => {
    const stdio = { type: 'stdio', ...started };
    const continueBlock = { name: 'lorekeep', version: '0.0.1', schema: 'v1' };
    expect(configurations('Hosts')).toEqual({
      'Claude Desktop': { mcpServers: { lorekeep: started } },
      'Claude Code': { mcpServers: { lorekeep: stdio } },
      Cursor: { mcpServers: { lorekeep: started } },
      'VS Code': { servers: { lorekeep: stdio } },
      Zed: { context_servers: { lorekeep: { ...started, env: {} } } },
      Continue: { ...continueBlock, mcpServers: [{ name: 'lorekeep', ...started }] },
      Codex: { mcp_servers: { lorekeep: started } },
      'Gemini CLI': { mcpServers: { lorekeep: started } },
    });
  });

  it('begins with the lines that one pastes', () => {
    const [, first = ''] = /```json\n([\s\S]*?)```/.exec(guide) ?? [];
    expect(JSON.parse(first)).toEqual({ mcpServers: { lorekeep: started } });
  });

  it('has configurations for the HTTP port', () => {
    const server = { url: 'http://127.0.0.1:9103/mcp', headers: { Authorization: 'Bearer KEY' } };
    const [, text = ''] = guide.split('\n## Over HTTP\n');
    const blocks = [...text.matchAll(/```json\n([\s\S]*?)```/g)].map(([, block = '']) => JSON.parse(block));
    expect(blocks).toEqual([
      { mcpServers: { lorekeep: { type: 'http', ...server } } },
      { mcpServers: { lorekeep: server } },
      { servers: { lorekeep: { type: 'http', ...server } } },
    ]);
  });
});
