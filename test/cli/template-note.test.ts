/** Constructs of chat templates that are not supported are named before a conversation reaches them. */
import { writeFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import { LanguageModel } from '../../lib/index.js';
import { temporaryFolder } from '../helpers/folder.js';
import { writeTinyDecoder } from '../helpers/tiny-model/tiny-decoder.mjs';
import { commandHost } from './commands.js';

const inFolder = temporaryFolder();
const lorekeep = commandHost();
const template =
  "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}{% if tools %}\n{{ tools | groupby('type') }}{{ tools is escaped }}{% endif %}";
const named =
  "the chat template uses what is not supported: line 3: the filter 'groupby'; line 3: the test 'escaped'; a conversation that reaches it fails";

beforeAll(async () => {
  await writeTinyDecoder('llama', inFolder('groups.gguf'), { template });
  await writeTinyDecoder('llama', inFolder('includes.gguf'), { template: "{% include 'x' %}" });
  await writeTinyDecoder('llama', inFolder('plain.gguf'), { template: '{{ messages[0].content }}' });
  const model = { name: 'groups', model_type: 'llm', variants: [{ file: 'groups.gguf' }] };
  writeFileSync(inFolder('models.json'), JSON.stringify({ version: 1, models: [model] }));
});

it('the facts of a loaded model have them', async () => {
  const noteOf = async (name: string) => {
    await using model = await LanguageModel.load(inFolder(name));
    return model.facts.templateNote;
  };
  expect(await noteOf('groups.gguf')).toBe(named);
  expect(await noteOf('includes.gguf')).toContain('Unknown statement: include');
  expect(await noteOf('plain.gguf')).toBe('');
});

it('run and check name them', async () => {
  const { stderr } = await lorekeep(['run', inFolder('groups.gguf'), 'Hi', '--max-tokens', '1']);
  expect(stderr).toContain(`lorekeep: ${named}`);
  const file = await lorekeep(['check', inFolder('groups.gguf')]);
  expect(file.stdout, file.stderr).toContain(named);
  const broken = await lorekeep(['check', inFolder('includes.gguf')]);
  expect(broken.stdout).toContain('the chat template cannot be read: ');
  const catalog = await lorekeep(['check', inFolder('models.json')]);
  expect(catalog.stdout + catalog.stderr).toContain(named);
});
