import { ms, time } from '../parts/format.js';
import type { TurnRecord } from './api.js';
import { Facts, Json, ObjectFacts } from './facts.js';
import { Waterfall } from './waterfall.js';
import { type Fact, plain } from './words.js';

/** A turn: why it failed, where its time went, and what its nodes did. */
export function TurnDetails({ turn, userContent }: { turn: TurnRecord; userContent: boolean }) {
  const { failure, queuedMs, durationMs, skipped } = turn;
  const facts: Fact[] = [
    ['ended', time(turn.at)],
    ['agent', turn.agent],
    ['client', turn.client ?? '-'],
    ['took', `${ms(durationMs)}${queuedMs >= 1 ? `, after ${ms(queuedMs)} of waiting` : ''}`],
    ['hits', String(turn.hits)],
    ['citations', String(turn.citations)],
    ...(skipped > 0 ? [['skipped nodes', String(skipped)] as Fact] : []),
    ['message', `${turn.messageLength.toLocaleString()} characters`],
    ['reply', `${turn.replyLength.toLocaleString()} characters`],
  ];
  return (
    <>
      <h2>{turn.turn}</h2>
      {turn.status === 'cancelled' && <p class="dim">The client cancelled it.</p>}
      {failure !== undefined && <Failure turn={turn} failure={failure} userContent={userContent} />}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll it */}
      <section class="scroll" aria-label="Waterfall" tabIndex={0}>
        <Waterfall turn={turn} />
      </section>
      <Facts facts={facts} />
      {turn.nodes.map(({ node, type, duration_ms, ...rest }) => (
        <div key={node}>
          <h3>
            {node} <span class="dim">{type}</span>
          </h3>
          <ObjectFacts value={rest} label={node} />
          {(turn.engine ?? [])
            .filter((one) => one.node === node)
            .map(({ diagnostics }) => (
              <ObjectFacts key={node} value={diagnostics.engine} label={`Engine of ${node}`} />
            ))}
        </div>
      ))}
      <h3>Texts</h3>
      <Texts turn={turn} userContent={userContent} />
    </>
  );
}

interface FailureProps {
  turn: TurnRecord;
  failure: NonNullable<TurnRecord['failure']>;
  userContent: boolean;
}

function Failure({ turn: { code }, failure, userContent }: FailureProps) {
  const { name, meaning, remedy, path, node, message } = failure;
  return (
    <div class="failure">
      <p>
        <strong class="bad">
          Failed: {name} ({code})
        </strong>
        {node === undefined ? ' before the first node' : ` in the node ${node.id} (${node.type})`}
      </p>
      {message !== undefined && <p>{message}</p>}
      {path !== undefined && (
        <p>
          Field: <code>{path}</code>
        </p>
      )}
      <p class="dim">{plain(`${meaning} ${remedy}`)}</p>
      {!userContent && (
        <p class="dim">
          The client got a message with the details; it may quote texts, so it is not shown here.
        </p>
      )}
    </div>
  );
}

/** Texts of users: only if the operator allows them. */
function Texts({ turn: { components, shortened }, userContent }: { turn: TurnRecord; userContent: boolean }) {
  if (components === undefined)
    return (
      <p class="dim">
        {userContent ? 'None were kept.' : 'Shown only with include_interaction_in_diagnostics.'}
      </p>
    );
  return (
    <>
      {components.map((component, index) => (
        <Component key={`${index}`} component={component as Record<string, unknown>} />
      ))}
      {shortened && <p class="dim">Long texts are cut.</p>}
      <Json value={components} label="Components" />
    </>
  );
}

const titles: Readonly<Record<string, string>> = {
  human_message: 'message',
  knowledge: 'record',
  character_reply: 'reply',
};

function Component({ component }: { component: Record<string, unknown> }) {
  const { _type: type, text, id, rank } = component;
  const kind = String(type);
  if (typeof text !== 'string') return null;
  return (
    <p class="text">
      <span class="dim">
        {titles[kind] ?? kind.replaceAll('_', ' ')}
        {typeof rank === 'number' && ` ${rank}`}
        {typeof id === 'string' && `, ${id}`}
      </span>{' '}
      {text}
    </p>
  );
}
