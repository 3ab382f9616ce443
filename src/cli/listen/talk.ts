import type { ClientAgent, ClientSpeech, Graph, SpeechEvent } from '../../client/index.js';
import { longestPrompt } from '../../protocol/speech-frames.js';
import { type Audio, PiecesUntilFailure } from '../../speech/audio.js';
import { answeringGraph, quotingGraph } from '../ask/answering-graph.js';
import { openPlaces } from '../ask/open-places.js';
import { type Opened, type OpenFlags, refuseIneffective } from '../ask/opened.js';
import { dividePlaces } from '../ask/places.js';
import { noSentence, PiecePrinter } from '../ask/reply-printer.js';
import { UsageError } from '../failure.js';
import { note, outputIsLost, print, printJsonLine } from '../output.js';
import { jsonFile } from '../search/json-argument.js';
import { printable } from '../terminal/printable.js';
import { checkSpeechModels, type SpeechFlags } from '../transcribe/speech-models.js';

/** The flags of `listen` for an agent. `model` is that of the recogniser. */
export interface TalkFlags extends OpenFlags, Omit<SpeechFlags, 'threads'> {
  /** A file instead of a microphone. */
  input?: string;
  minSilence?: number;
  languageModel?: string;
  graph?: string;
  endOfTurn?: 'silence' | 'sentence';
}

/** Whether the command line names an agent, not only a microphone. */
export const namesAgent = (words: readonly string[], flags: TalkFlags): boolean =>
  words.length > 0 || flags.port !== undefined || flags.host !== undefined || flags.graph !== undefined;

/**
 * Talks with an agent, hands free: each utterance becomes a turn, and speech during a reply cancels it.
 * @throws CommandError, UsageError, StartupError, ServerError, ConnectionLostError; the signal's reason; as Audio.pieces()
 */
export async function talk(
  words: readonly string[],
  flags: TalkFlags,
  openSound: () => Promise<Audio>,
  signal: AbortSignal,
): Promise<void> {
  const { length } = flags.prompt ?? '';
  if (length > longestPrompt)
    throw new UsageError(
      `--prompt: at most ${longestPrompt} characters are expected on an agent, not ${length}`,
    );
  const atServer = flags.host !== undefined || flags.port !== undefined;
  const places = words.length === 0 ? undefined : await dividePlaces(words, atServer, 'listen');
  if (places?.question !== undefined)
    throw new UsageError(`${places.question}: there is no such file or folder; listen takes no question`);
  const openFlags = agentFlags(flags);
  refuseIneffective(places, openFlags);
  if (places !== undefined && 'here' in places) await checkSpeechModels(flags);
  const given = flags.graph === undefined ? undefined : ((await jsonFile('--graph', flags.graph)) as Graph);
  await using opened = await openPlaces(places, openFlags, signal);
  const agent = await opened.session.createAgent({ graph: given ?? graphOf(opened) }, { signal });
  const audio = await openSound();
  await using speech = await opened.session.openSpeech(streamFields(agent, audio, flags), { signal });
  const quotes = given === undefined && !opened.hasLanguageModel;
  const printer = new TalkPrinter({ json: flags.json === true, quotes });
  const pieces = new PiecesUntilFailure(audio, signal);
  const sending = send(pieces, speech, signal);
  // The loop below ends with the stream, which a failure closes.
  sending.catch(() => speech.close());
  for await (const event of speech) {
    if (outputIsLost()) return;
    printer.show(event);
  }
  await sending;
  pieces.throwFailure();
}

/** The flags of `chat`, for which `model` is the language model. */
function agentFlags({ model: _, languageModel, ...flags }: TalkFlags): OpenFlags {
  return languageModel === undefined ? flags : { ...flags, model: languageModel };
}

function graphOf({ storages, model, hasLanguageModel }: Opened): Graph {
  if (hasLanguageModel) return answeringGraph(storages, {}, { model });
  note(
    'lorekeep: there is no language model, so the replies are sentences of the records; --language-model names one',
  );
  return quotingGraph(storages, {});
}

function streamFields(agent: ClientAgent, { rate, channels }: Audio, flags: TalkFlags) {
  const { model, vadModel, language, translate, prompt, beams, minSilence, endOfTurn } = flags;
  const vad = minSilence === undefined ? {} : { minSilenceMs: minSilence };
  const recognition = { model, vadModel, vad, language, translate, prompt, beams };
  return { agentId: agent.id, rate, channels, endOfTurn, ...recognition };
}

async function send(
  pieces: AsyncIterable<Float32Array>,
  speech: ClientSpeech,
  signal: AbortSignal,
): Promise<void> {
  for await (const samples of pieces) await speech.write(samples, { signal });
  await speech.finish({ signal });
}

/** Prints what was said, after a mark, and the replies; or a line of JSON per turn. */
class TalkPrinter {
  readonly #json: boolean;
  readonly #quotes: boolean;
  readonly #pieces: PiecePrinter;
  /** What was said, by turn. */
  readonly #said = new Map<string, string>();

  /** `quotes`: replies are sentences of the records. */
  constructor({ json, quotes }: { json: boolean; quotes: boolean }) {
    this.#json = json;
    this.#quotes = quotes;
    this.#pieces = new PiecePrinter(json);
  }

  show(event: SpeechEvent): void {
    switch (event.type) {
      case 'TurnStarted':
        this.#said.set(event.turnId, event.text ?? '');
        if (!this.#json) print(`> ${printable(event.text ?? '')}`);
        break;
      case 'TurnText':
        this.#pieces.add(event.text, event.kind === 'thinking');
        break;
      case 'TurnComplete':
        this.#complete(event);
        break;
      case 'SpeechClosed':
        if (event.error !== undefined) note(`lorekeep: ${printable(event.error.message)}`);
        break;
    }
  }

  #complete(event: Extract<SpeechEvent, { type: 'TurnComplete' }>): void {
    const { text, status } = event;
    if (this.#json) printJsonLine({ question: this.#said.get(event.turnId), text, status });
    this.#pieces.end();
    if (!this.#json && status === 'cancelled') note('interrupted');
    if (!this.#json && this.#quotes && status === 'completed' && text === '') print(noSentence);
    this.#said.delete(event.turnId);
  }
}
