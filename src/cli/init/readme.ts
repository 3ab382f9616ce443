/** The README of a folder made by `lorekeep init`. `run` is the command that starts lorekeep. */
export function readme(run: string, question: string): string {
  return `# A knowledge base, and a server for it

Made by \`lorekeep init\`. Run these in this folder:

    ${run} build knowledge/harbour/kb.json --config server-config.json
    ${run} search knowledge/harbour/kb.json "${question}" --config server-config.json
    ${run} serve --config server-config.json

and, while the server runs, in another terminal:

    ${run} ask harbour/kb.json "${question}"

\`${run} serve --http\` serves \`harbour\` to other programs, too: over HTTP and WebSocket, by the API of OpenAI,
and over MCP.

| File | What it is |
|---|---|
| server-config.json | the server's settings; \`${run} check server-config.json\` finds mistakes |
| models.json | the model catalog: which models there are, and where. Add your own here. \`${run} models list --config server-config.json\` shows it; \`models pull NAME\` downloads a language model, a reranker or another embedding model |
| models/all-MiniLM-L6-v2.gguf | an embedding model for English |
| models/all-MiniLM-L6-v2.reference.json | vectors of the original model; \`${run} check --config server-config.json\` compares |
| models/ggml-silero-v6.2.0.bin | a model that finds speech in audio |
| knowledge/ | the storage root: what clients name starts here |
| knowledge/harbour/kb.json | the config of the sample: model, files, metadata fields |
| knowledge/harbour/records.json | its records: id, text, metadata |

Two filters to try:

    ${run} search knowledge/harbour/kb.json "night" --config server-config.json --filter '{"==": [{"knowledge": "secret"}, false]}'
    ${run} search knowledge/harbour/kb.json "night" --config server-config.json --filter '{"in": ["Signe", {"knowledge": "people"}]}'

After records.json has changed, \`build\` again.
`;
}
