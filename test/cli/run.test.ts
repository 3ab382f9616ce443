import { describe, expect, it } from 'vitest';
import { haveModels, realModel, stories } from '../helpers/real-models.js';
import { lorekeep } from './command.js';

describe.skipIf(!haveModels(stories))('lorekeep run', () => {
  const model = realModel(stories);
  const cold = ['--temperature', '0', '--max-tokens', '20'];

  it('prints what a model file generates, and tokens and times on demand', async () => {
    const { status, stdout, stderr } = await lorekeep([
      'run',
      model,
      'Once upon a time',
      '--raw',
      ...cold,
      '--stats',
    ]);
    expect(status, stderr).toBe(0);
    expect(stdout).toMatch(/^, there was a little girl named Lily\..*\n$/s);
    expect(stderr).toMatch(
      /^prompt \d+ tokens \(0 cached\) in \d+ ms; reply 20 tokens, .* finish length; seed \d+; (?:llama\.cpp|decoder)\n$/,
    );
  });

  it('reads the prompt from stdin, and says that the model has no chat template', async () => {
    const args = ['run', model, ...cold, '--json'];
    const { status, stdout, stderr } = await lorekeep(args, { stdin: 'Once upon a time\n' });
    expect(status, stderr).toBe(0);
    expect(stderr).toContain('the model has no chat template');
    const result = JSON.parse(stdout);
    expect(result).toMatchObject({ finish: 'length', usage: { completion: 20 } });
    expect(result.text).toMatch(/^, there was a little girl/);
  });

  it('names what is wrong', async () => {
    const absent = await lorekeep(['run', 'absent.gguf', 'x']);
    expect(absent.status).toBe(1);
    expect(absent.stderr).toContain('absent.gguf');
    const empty = await lorekeep(['run', model], { stdin: ' \n' });
    expect([empty.status, empty.stderr]).toEqual([2, expect.stringContaining('the prompt is empty')]);
    const both = await lorekeep(['run', model, 'x', '--raw', '--system', 'y']);
    expect([both.status, both.stderr]).toEqual([2, expect.stringContaining('--raw')]);
  });
});
