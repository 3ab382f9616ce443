import { describe, expect, it } from 'vitest';
import type { Graph } from '../../src/client/index.js';
import { fromWire, toWire } from '../../src/client/names.js';
import { serverSchemas } from '../../src/protocol/frames.js';
import { TestServer } from '../server/test-server.js';

describe('the names of fields', () => {
  it("are the protocol's on the wire, whichever spelling a caller uses", () => {
    const wire = {
      session_id: 's1',
      enable_diagnostics: true,
      graph: {
        nodes: [
          { id: 'kb', type: 'retrieve', params: { embedded_string_storage: 'docs', top_k: 3 } },
          { id: 'answer', type: 'quote', params: { max_sentences: 2 } },
        ],
        edges: [['kb', 'answer']],
      },
    };
    const camel = {
      sessionId: 's1',
      enableDiagnostics: true,
      graph: {
        nodes: [
          { id: 'kb', type: 'retrieve', params: { embeddedStringStorage: 'docs', topK: 3 } },
          { id: 'answer', type: 'quote', params: { maxSentences: 2 } },
        ],
        edges: [['kb', 'answer']],
      },
    };
    expect(toWire('CreateAgentRequest', camel)).toEqual(wire);
    expect(toWire('CreateAgentRequest', wire)).toEqual(wire);
  });

  it('are left alone in variables, filters, metadata and the details of errors, and where nothing is known of them', () => {
    const filter = { all: [{ field: 'page_no', op: '==', value: 1 }] };
    const variables = { someName: 1, some_name: 2, nested: { topK: 1 } };
    expect(
      toWire('SearchEmbeddedStringStorageRequest', { name: 'd', text: 't', topK: 2, filter, variables }),
    ).toEqual({
      name: 'd',
      text: 't',
      top_k: 2,
      filter,
      variables,
    });
    const metadata = { page_no: 1, pageNo: 2 };
    const hit = { id: '1', text: 't', rank: 1, score: 1, bm25_score: 2, dense_rank: 1, metadata };
    expect(
      fromWire({ type: 'SearchEmbeddedStringStorageResponse', reply_to: 1, hits: [hit] } as never),
    ).toEqual({
      type: 'SearchEmbeddedStringStorageResponse',
      replyTo: 1,
      hits: [{ id: '1', text: 't', rank: 1, score: 1, bm25Score: 2, denseRank: 1, metadata }],
    });
    const error = {
      type: 'Error',
      reply_to: 1,
      code: 4003,
      name: 'n',
      message: 'm',
      details: { filter_path: 'x' },
    };
    expect(fromWire(error)).toMatchObject({ replyTo: 1, details: { filter_path: 'x' } });
    const later = { type: 'SomethingLater', turn_id: 't' };
    expect(fromWire(later)).toBe(later);
    const graph = { nodes: [{ id: 'a', type: 'later_type', params: { someName: 1 } }] };
    expect(toWire('CreateAgentRequest', { graph })).toEqual({ graph });
    expect(toWire('TurnRequest', JSON.parse('{"__proto__": {"a": 1}, "text": "t"}'))).toEqual(
      JSON.parse('{"__proto__": {"a": 1}, "text": "t"}'),
    );
  });

  it('of components and diagnostics are camelCase, by the type of each', () => {
    const frame = {
      type: 'TurnComplete',
      turn_id: 's1.t1',
      citations: [{ id: '1', reply_start: 0, reply_end: 5 }],
      diagnostics: {
        queued_ms: 1,
        nodes: [{ node: 'kb', type: 'retrieve', duration_ms: 2, embed_ms: 1 }],
        interaction: [
          { _type: 'knowledge', bm25_score: 1, lexical_rank: 1 },
          { _type: 'citation', reply_start: 0 },
          { _type: 'later', some_field: 1 },
        ],
      },
      debug_info: { nodes: [{ diagnostics: { engine: { kind: 'retrieval', context_size: 64 } } }] },
    };
    expect(fromWire(frame)).toEqual({
      type: 'TurnComplete',
      turnId: 's1.t1',
      citations: [{ id: '1', replyStart: 0, replyEnd: 5 }],
      diagnostics: {
        queuedMs: 1,
        nodes: [{ node: 'kb', type: 'retrieve', durationMs: 2, embedMs: 1 }],
        interaction: [
          { _type: 'knowledge', bm25Score: 1, lexicalRank: 1 },
          { _type: 'citation', replyStart: 0 },
          { _type: 'later', some_field: 1 },
        ],
      },
      debugInfo: { nodes: [{ diagnostics: { engine: { kind: 'retrieval', contextSize: 64 } } }] },
    });
  });

  it('have no underscore in any frame of the server, but for _type', () => {
    for (const [type, { shape }] of Object.entries(serverSchemas)) {
      const frame = { ...Object.fromEntries(Object.keys(shape).map((name) => [name, 1])), type };
      expect(Object.keys(fromWire(frame)).filter((name) => name.includes('_'))).toEqual([]);
    }
  });

  it('are refused in both spellings at once', () => {
    const both = { name: 'd', text: 't', topK: 1, top_k: 2 };
    expect(() => toWire('SearchEmbeddedStringStorageRequest', both)).toThrow(
      new TypeError('topK: is the same field as top_k; give one of them'),
    );
  });

  it('are camelCase in a whole session, also when a connection makes it again', async () => {
    const server = await TestServer.start({ config: { include_interaction_in_diagnostics: true } });
    const session = await server.session();
    const made = await session.createEmbeddedStringStorage({
      name: 'docs',
      strings: ['Bees dance.', 'Glaciers grind.'],
      embeddingModel: 'tiny',
    });
    expect(made).toEqual({
      type: 'CreateEmbeddedStringStorageResponse',
      replyTo: expect.any(Number),
      recordCount: 2,
      embeddingDim: 512,
    });
    const graph: Graph = {
      nodes: [
        { id: 'kb', type: 'retrieve', params: { embeddedStringStorage: 'docs', mode: 'hybrid', topK: 1 } },
        { id: 'answer', type: 'quote', params: { maxSentences: 1 } },
      ],
    };
    const agent = await session.createAgent({ graph, enableDiagnostics: true });
    const { turnId, citations, diagnostics } = await agent.turn('Do bees dance?');
    expect(turnId).toMatch(/^s\d+\.t1$/);
    expect(citations?.[0]).toMatchObject({ id: '0', replyStart: 0, replyEnd: 11 });
    expect(diagnostics?.nodes[0]?.searchMs).toBeGreaterThan(0);
    const knowledge = diagnostics?.interaction?.find((component) => component._type === 'knowledge');
    expect(knowledge?.denseRank).toBe(1);
  });
});
