import type { Command } from 'commander';
import { integer } from '../arguments.js';
import type { EvalFlags } from '../eval/eval.js';
import { exitStatusHelp } from '../exit-status.js';
import { addModelFlags } from '../flags/model.js';

export function addEval(program: Command): void {
  const command = program
    .command('eval')
    .description('Measure how well a knowledge base answers your own questions, and say what to change.')
    .argument('<kb.json>', 'config of the knowledge base')
    .argument('<questions.jsonl>', 'one {"question": "...", "relevant": ["id", ...]} a line');
  addModelFlags(command)
    .option('--top-k <n>', 'number of hits to judge, 1 to 1000', integer(1, 1000), 10)
    .option('--worst <n>', 'number of worst questions to show', integer(0, 1000), 5)
    .option(
      '--draft <n>',
      'write up to n drafted questions to the file first; it must not exist',
      integer(1, 10_000),
    )
    .option('--json', 'one JSON result on stdout')
    .addHelpText('after', evalHelp)
    .action(async (file: string, questions: string, flags: EvalFlags) => {
      const { evaluateCommand } = await import('../eval/eval.js');
      await evaluateCommand(file, questions, flags);
    });
}

const evalHelp = `
Examples:
  lorekeep eval kb.json questions.jsonl
  lorekeep eval kb.json questions.jsonl --draft 50

A draft is the title or the first sentence of a record. Drafts are easy: replace them by questions that people ask.
${exitStatusHelp}`;
