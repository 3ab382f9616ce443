import type { Command } from 'commander';
import { exitStatusHelp } from '../exit-status.js';
import { addModelFlags } from '../flags/model.js';
import type { McpFlags } from '../mcp/knowledge.js';

export function addMcp(program: Command): void {
  const command = program
    .command('mcp')
    .description('Serve your folders and knowledge bases to an agent over stdio (Model Context Protocol).')
    .usage('[options] <folder|kb.json...>')
    .argument('<place...>', 'folders and knowledge bases on this machine')
    .option(
      '--model <name>',
      'let a language model write the answers of the tool ask: a name of the catalog, or a file (default: sentences are quoted)',
    );
  addModelFlags(command)
    .option('--write', 'let the agent remember and forget records (default: it only reads)')
    .option('--embedding-model <name>', 'embedding model of a folder that is indexed (default: as for index)')
    .addHelpText('after', mcpHelp)
    .action(async (words: string[], flags: McpFlags) => {
      const { mcp } = await import('../mcp/mcp.js');
      await mcp(words, flags);
    });
}

const mcpHelp = `
Examples:
  lorekeep mcp ./docs ./notes
  claude mcp add lorekeep -- npx -y lorekeep mcp /home/ada/notes

A host starts this command; docs/guides/mcp.md has the configuration of the usual hosts. stdout holds nothing but
messages. A folder is indexed first, as far as it has changed. It ends when the host closes stdin or ends.
${exitStatusHelp}`;
