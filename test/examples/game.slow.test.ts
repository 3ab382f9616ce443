import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type ClientAgent, type ClientSession, connect, type Graph } from '../../src/client/index.js';
import { configSchema } from '../../src/config/schema.js';
import { silentLog } from '../../src/log/log.js';
import { LorekeepServer } from '../../src/server/server.js';
import { temporaryFolder } from '../helpers/folder.js';
import { haveModels, realModel, smolLm } from '../helpers/real-models.js';
import { repetitions } from '../helpers/repetitions.js';
import { Program } from '../server/program.js';

const root = join(import.meta.dirname, '..', '..');
const folder = join(root, 'examples', 'game');
const inFolder = temporaryFolder();
const inGame = (...names: string[]) => inFolder('saltmere', ...names);

/** The record that only Wenda may know, and what the player tells Pip alone. */
const planted = { id: 'barrow', word: 'mulberrywick', owner: 'wenda' };
const told = { word: 'Cormorant', owner: 'pip' };
const question = 'Which word opens the barrow, and where does my boat lie?';

interface Person {
  readonly me: string;
  readonly name: string;
  readonly persona: string;
}
interface WorldRecord {
  readonly id: string;
  readonly text: string;
  readonly metadata: { readonly known_to: readonly string[]; readonly place: string };
}

const succeeds = (command: string, ...args: string[]) => spawnSync(command, args).status === 0;
const read = <T>(name: string): T => JSON.parse(readFileSync(inGame(name), 'utf8'));
const write = (name: string, value: unknown) => writeFileSync(inGame(name), JSON.stringify(value));

/** The shell commands with which the README begins, without the first, which needs a registry, and the last, which plays. */
function pastedCommands(): string[] {
  const page = readFileSync(join(folder, 'README.md'), 'utf8');
  const lines = /^# .*\n\n```sh\n(.*?)```/s.exec(page)?.[1]?.trim().split('\n') ?? [];
  expect([lines[0], lines.at(-1)]).toEqual(['npm install lorekeep', './game']);
  return lines.slice(1, -1);
}

/** The game in a folder of its own, as the README makes it, with secrets and short replies. */
function makeGame(): void {
  mkdirSync(inFolder('node_modules'));
  symlinkSync(root, inFolder('node_modules', 'lorekeep'));
  symlinkSync(realModel(smolLm), inFolder(smolLm));
  execFileSync('sh', ['-e', '-c', pastedCommands().join('\n')], { cwd: inFolder(), stdio: 'inherit' });
  const text = `The word that opens the barrow is ${planted.word}.`;
  const metadata = { known_to: [planted.owner], place: 'forest' };
  write('world/records.json', [
    ...read<WorldRecord[]>('world/records.json'),
    { id: planted.id, text, metadata },
  ]);
  const graph = read<Graph>('talk.json');
  const talk = graph.nodes.find(({ id }) => id === 'talk') as { params: Record<string, unknown> };
  talk.params.max_tokens = 4;
  write('talk.json', graph);
}

const cast = () => read<readonly Person[]>('cast.json');

/** Ids of the records of the world that somebody may know. */
const knownTo = (me: string) =>
  read<WorldRecord[]>('world/records.json')
    .filter(({ metadata }) => metadata.known_to.some((name) => name === 'everyone' || name === me))
    .map(({ id }) => id);

/** Expects that no secret of somebody else is anywhere in what one character has got. */
function expectNoSecretOfOthers(me: string, got: unknown): void {
  const text = JSON.stringify(got);
  for (const { word, owner } of [planted, told]) {
    if (me !== owner) expect(text.includes(word), `${me} got ${word}: ${text}`).toBe(false);
  }
}

interface Frame {
  readonly type: string;
  readonly id?: number;
  readonly reply_to?: number;
  readonly session_id?: string;
  readonly turn_id?: string;
  readonly text?: string;
  readonly variables?: Person;
  readonly dry_run?: boolean;
  readonly sources?: readonly { storage: string; id: string; node: string }[];
}

/** The turns of a recording: request and frames of each. */
function recordedTurns(): { asked: Frame; got: Frame[] }[] {
  const recorded = readFileSync(inFolder('recording'), 'utf8').trim().split('\n');
  const all = recorded.map((line) => JSON.parse(line) as { client: boolean; frame: Frame });
  const requests = all.filter(({ client, frame }) => client && frame.type === 'TurnRequest');
  const answers = all.filter(({ client }) => !client).map(({ frame }) => frame);
  return requests.map(({ frame: asked }) => {
    const turn = answers.find(
      ({ type, reply_to }) => type === 'TurnStarted' && reply_to === asked.id,
    )?.turn_id;
    return { asked, got: answers.filter((frame) => turn !== undefined && frame.turn_id === turn) };
  });
}

const compiler = succeeds('cc', '--version') && succeeds('sh', '-c', ':');
if (!compiler) console.log('left out: examples/game; there is no C compiler');

describe.skipIf(!compiler || !haveModels(smolLm))('examples/game', () => {
  beforeAll(makeGame);

  it('plays as its README says, counts late frames, and nobody learns what he may not know', async () => {
    // In `npm test` the loop computes little, as other tests need the processor, and four characters are asked.
    const frames = repetitions('GAME_FRAMES', 30, 600);
    const isShort = frames < 600;
    const few = [planted.owner, told.owner, 'brann', 'mirko'];
    const characters = cast().filter(({ me }) => !isShort || few.includes(me));
    const script = [
      { to: told.owner, say: `Keep it to yourself: my boat lies at ${told.word} Slip.` },
      ...characters.map(({ me }) => ({ to: me, say: question })),
      { to: 'brann', order: 'Please open the north gate.' },
      { to: 'mirko', order: 'I want to buy a rope for 5 pennies.' },
    ];
    write('script.json', script);
    const work = isShort ? 1 : 6;
    const game = Program.command([
      'sh',
      '-c',
      'cd "$0" && exec env "$@"',
      inGame(),
      `LOREKEEP=${process.execPath} ${join(import.meta.dirname, 'recording-server.mjs')}`,
      `RECORDING=${inFolder('recording')}`,
      './game',
      ...['--frames', `${frames}`, '--turns', `${Math.ceil(script.length / 3)}`, '--work', `${work}`],
    ]);
    expect(await game.ended, `${game.stdout}\n${game.stderr}`).toEqual({ code: 0, signal: null });
    const table = /\n +frames +missed.*$/s.exec(game.stdout)?.[0] ?? '';
    console.log(`examples/game, beside other tests:${table}`);
    for (const name of ['without lorekeep', 'throttle 0', 'throttle 0.5', 'throttle 1'])
      expect(table).toMatch(new RegExp(`^${name} +\\d+ +\\d+ +[\\d.]+% +[\\d.]+( +\\d+ +[\\d.]+)?$`, 'm'));
    expect(game.stdout).toMatch(
      /^\* (Brann|Mirko) (opens a door: .+|follows you|sells you .+|does nothing)$/m,
    );

    const turns = recordedTurns();
    const sessions = new Map(turns.map(({ asked }) => [asked.session_id, asked.variables?.me]));
    expect([...sessions.values()].sort()).toEqual(characters.map(({ me }) => me).sort());
    const found = new Set<string>();
    for (const { asked, got } of turns) {
      const me = asked.variables?.me ?? '';
      expect(me).toBe(sessions.get(asked.session_id));
      expectNoSecretOfOthers(me, got);
      const complete = got.find(({ type }) => type === 'TurnComplete');
      for (const { storage, id } of complete?.sources ?? []) {
        found.add(`${me} ${id}`);
        if (storage === 'kb.json') expect(knownTo(me)).toContain(id);
      }
    }
    expect(found).toContain(`${planted.owner} ${planted.id}`);
    expect([...found].some((of) => of.startsWith(`${told.owner} m-`))).toBe(true);
  }, 600_000);

  it('is strict C99, on Windows too', () => {
    const strict = ['-std=c99', '-Wall', '-Wextra', '-Wpedantic', '-Wshadow', '-Werror', '-fsyntax-only'];
    const sources = readdirSync(folder).filter((name) => name.endsWith('.c'));
    const include = join(root, 'clients', 'c');
    for (const command of ['cc', 'x86_64-w64-mingw32-gcc']) {
      if (!succeeds(command, '--version')) console.log(`left out: ${command} compiles examples/game`);
      else
        execFileSync(command, [...strict, '-I', include, ...sources], {
          cwd: folder,
          stdio: 'inherit',
        });
    }
  });

  it('puts no secret into prompts, hits and memories of others', async () => {
    const config = configSchema.parse({
      ...read<object>('server.json'),
      models_catalog_path: inGame('models.json'),
      storage_root: inGame('world'),
      memories_dir: inFolder('memories'),
      include_interaction_in_diagnostics: true,
    });
    const server = await LorekeepServer.start({ config, log: silentLog() });
    onTestFinished(() => server.close());
    const client = await connect({ port: server.port });
    const people: { person: Person; session: ClientSession; agent: ClientAgent }[] = [];
    for (const person of cast()) {
      const session = await client.createSession();
      const agent = await session.createAgent({ graph: read<Graph>('talk.json'), enableDiagnostics: true });
      people.push({ person, session, agent });
    }
    const teller = people.find(({ person }) => person.me === told.owner);
    const variables = { ...teller?.person };
    await teller?.agent.turn(`Keep it to yourself: my boat lies at ${told.word} Slip.`, { variables });
    const got = new Map<string, string>();
    for (const { person, session, agent } of people) {
      const { me } = person;
      const turn = await agent.turn(question, { variables: { ...person }, hits: true, dryRun: true });
      expect(turn.dryRun?.[0]?.messages?.length, JSON.stringify(turn)).toBeGreaterThan(1);
      const memory = await session.search({ name: 'memory', text: question, topK: 10 });
      expectNoSecretOfOthers(me, [turn, memory, await agent.export()]);
      // Who may know a secret has it in the prompt, and in the hits.
      got.set(me, JSON.stringify([turn.dryRun, turn.hits]));
      for (const { storage, id } of turn.hits ?? [])
        if (storage === 'kb.json') expect(knownTo(me)).toContain(id);
    }
    expect(got.get(planted.owner)).toContain(planted.word);
    expect(got.get(told.owner)).toContain(told.word);
    await expect(people[0]?.agent.turn(question, { variables: { name: 'Nobody' } })).resolves.toMatchObject({
      status: 'failed',
      error: { code: 4003 },
    });
    await client.close();
  });
});
