import { useRef, useState } from 'preact/hooks';
import { Answer } from './answer.js';
import { ask, type PageAnswer, type PageAnswerer } from './api.js';
import { FilterPanel } from './filter-panel.js';
import type { Place } from './passages.js';
import { Problem } from './problem.js';
import { type Scope, ScopeChoice } from './scope.js';

interface AskProps {
  scope: Scope;
  answerers: readonly PageAnswerer[];
  isShown: boolean;
  open(place: Place): void;
  onError(error: Error): void;
}

/** A question, and its answer as far as it is there. */
interface Turn {
  readonly number: number;
  readonly question: string;
  readonly by: PageAnswerer;
  readonly state: 'loading' | 'working' | 'done' | 'stopped' | 'failed';
  readonly reply: string;
  readonly thinking: string;
  readonly answer?: PageAnswer;
  readonly problem?: string;
}

/** Earlier turns that a model reads. */
const remembered = 20;

/** A conversation with the documents. */
export function Ask({ scope, answerers, isShown, open, onError }: AskProps) {
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const [chosen, setChosen] = useState(0);
  const running = useRef<AbortController | undefined>();
  const by = answerers[chosen] ?? answerers[0];
  const isBusy = turns.at(-1)?.state === 'loading' || turns.at(-1)?.state === 'working';
  const begin = (question: string) => {
    if (by === undefined || isBusy) return;
    const number = turns.length;
    const change = (next: (turn: Turn) => Partial<Turn>) =>
      setTurns((all) => all.map((turn) => (turn.number === number ? { ...turn, ...next(turn) } : turn)));
    setTurns([...turns, { number, question, by, state: 'loading', reply: '', thinking: '' }]);
    const controller = new AbortController();
    running.current = controller;
    const body = {
      ...{ text: question, storages: scope.storages, by },
      ...(scope.filter !== undefined && { filter: scope.filter }),
      history: historyOf(turns),
    };
    ask(body, controller.signal, {
      onBegun: () => change(() => ({ state: 'working' })),
      onText: (kind, text) => change((turn) => ({ state: 'working', [kind]: turn[kind] + text })),
    }).then(
      (answer) => change(() => ({ state: 'done', answer })),
      (error: Error) => {
        if (controller.signal.aborted) return change(() => ({ state: 'stopped' }));
        change(() => ({ state: 'failed', problem: error.message }));
        onError(error);
      },
    );
  };
  return (
    <section aria-label="Ask" hidden={!isShown} class="ask">
      <div class="tools">
        <ScopeChoice scope={scope} />
        {answerers.length > 1 && (
          <label class="inline">
            <span>Answer by</span>
            <select value={chosen} onChange={({ currentTarget }) => setChosen(Number(currentTarget.value))}>
              {answerers.map(({ kind, name }, index) => (
                <option key={`${kind} ${name}`} value={index}>
                  {name}
                </option>
              ))}
            </select>
          </label>
        )}
        <FilterPanel fields={scope.fields} filters={scope.filters} change={scope.setFilters} />
      </div>
      <div class="conversation" role="log" aria-label="Conversation" aria-busy={isBusy}>
        {turns.map((turn) => (
          <TurnView
            key={turn.number}
            turn={turn}
            open={open}
            again={turn === turns.at(-1) ? () => begin(turn.question) : undefined}
          />
        ))}
      </div>
      <Question
        isBusy={isBusy}
        canAsk={scope.storages.length > 0}
        begin={begin}
        stop={() => running.current?.abort()}
      />
    </section>
  );
}

const historyOf = (turns: readonly Turn[]) =>
  turns
    .filter(({ by, answer }) => by.kind !== 'quote' && answer !== undefined && answer.text !== '')
    .slice(-remembered)
    .map(({ question, answer }) => ({ text: question, reply: answer?.text ?? '' }));

interface TurnProps {
  turn: Turn;
  open(place: Place): void;
  /** Asks its question again. */
  again: (() => void) | undefined;
}

function TurnView({ turn, open, again }: TurnProps) {
  const { question, state, reply, thinking, answer, problem, by } = turn;
  const isBroken = state === 'failed' || state === 'stopped';
  return (
    <article class="turn">
      <h2 class="question">{question}</h2>
      {thinking !== '' && (
        <details open={state === 'working' && reply === ''}>
          <summary>Thinking</summary>
          <p class="dim reply">{thinking}</p>
        </details>
      )}
      {answer !== undefined ? (
        <Answer answer={answer} open={open} />
      ) : (
        reply !== '' && <p class={isBroken ? 'reply dim' : 'reply'}>{reply}</p>
      )}
      {state === 'loading' && (
        <p class="dim">
          {by.kind === 'quote'
            ? 'Searching.'
            : `Loading ${by.name}. Its first use on a machine takes longer.`}
        </p>
      )}
      {state === 'working' && reply === '' && <p class="dim">Reading the documents.</p>}
      {state === 'stopped' && <p class="dim">Stopped{reply !== '' && ': the answer is not whole'}.</p>}
      {problem !== undefined && (
        <Problem
          text={reply === '' ? `No answer: ${problem}` : `The answer is not whole: ${problem}`}
          action="Ask again"
          act={again}
        />
      )}
    </article>
  );
}

interface QuestionProps {
  isBusy: boolean;
  canAsk: boolean;
  begin(question: string): void;
  stop(): void;
}

/** Enter asks, unless an input method uses it to finish a word. */
function Question({ isBusy, canAsk, begin, stop }: QuestionProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  const submit = () => {
    const { current } = field;
    const question = current?.value.trim() ?? '';
    if (current === null || question === '' || isBusy || !canAsk) return;
    current.value = '';
    begin(question);
  };
  return (
    <form
      class="asking"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <label>
        <span class="hidden">Your question</span>
        <textarea
          ref={field}
          rows={2}
          placeholder="Ask your documents"
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.isComposing || event.keyCode === 229) return;
            event.preventDefault();
            submit();
          }}
        />
      </label>
      {isBusy ? (
        <button type="button" onClick={stop}>
          Stop
        </button>
      ) : (
        <button type="submit" disabled={!canAsk}>
          Ask
        </button>
      )}
    </form>
  );
}
