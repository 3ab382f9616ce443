/** The sample of `lorekeep init`: what the people of a small harbour know. Written for lorekeep. */
export const sampleConfig = {
  embedding_model: 'all-MiniLM-L6-v2',
  records_file: 'records.json',
  index_file: 'harbour.index',
  bm25_tokenizer: 'enhanced',
  fusion: 'scores',
  fields: [
    { name: 'topic', type: 'string', optional: true },
    { name: 'secret', type: 'bool', default: false },
    { name: 'people', type: 'set<string>', optional: true },
  ],
};

export const sampleQuestion = 'who lights the lamp at night?';

export const sampleRecords = [
  {
    id: 'lighthouse/keeper',
    text: 'Old Marten keeps the lighthouse on the rock. He climbs the ninety steps at dusk, lights the lamp and stays awake beside it until morning.',
    metadata: { topic: 'lighthouse', people: ['Marten'] },
  },
  {
    id: 'lighthouse/oil',
    text: 'The lamp burns whale oil in winter and rape oil in summer. A barrel lasts eleven nights.',
    metadata: { topic: 'lighthouse' },
  },
  {
    id: 'lighthouse/logbook',
    text: 'Marten writes every passing ship into a logbook. The page of the third of March was torn out, and he does not say by whom.',
    metadata: { topic: 'lighthouse', secret: true, people: ['Marten'] },
  },
  {
    id: 'inn/supper',
    text: 'The Gull and Anchor serves fish stew at six. Dagny, who owns the inn, puts fennel and a glass of brandy into it.',
    metadata: { topic: 'inn', people: ['Dagny'] },
  },
  {
    id: 'inn/rooms',
    text: 'There are four rooms above the inn. The one to the east gets the morning sun, and the bell of the chapel at seven.',
    metadata: { topic: 'inn' },
  },
  {
    id: 'inn/cellar',
    text: 'Behind the third cask in the cellar of the inn a door leads to a tunnel. It ends at the beach below the chapel.',
    metadata: { topic: 'inn', secret: true },
  },
  {
    id: 'harbour/ferry',
    text: 'The ferry to the mainland leaves on Tuesdays and Fridays at high tide. Dogs travel free; goats pay half.',
    metadata: { topic: 'harbour' },
  },
  {
    id: 'harbour/storm',
    text: 'When the harbour master raises a black cone, a storm is near and no boat may leave. Signe has raised it twice this year.',
    metadata: { topic: 'harbour', people: ['Signe'] },
  },
  {
    id: 'harbour/nets',
    text: 'Nets are mended on the quay in the forenoon. Whoever helps gets a herring, and hears what happened last night.',
    metadata: { topic: 'harbour' },
  },
  {
    id: 'chapel/bell',
    text: 'The bell of the chapel was cast from a cannon of a wrecked frigate. It is rung at seven, and by nobody in fog.',
    metadata: { topic: 'chapel' },
  },
  {
    id: 'chapel/smugglers',
    text: 'Signe suspects that smugglers land brandy at night below the chapel. She has asked Marten to keep the lamp dark for an hour, once.',
    metadata: { topic: 'chapel', secret: true, people: ['Marten', 'Signe'] },
  },
  {
    id: 'island/weather',
    text: 'Fog comes with the south wind and stays for days. Islanders find their way home by the sound of the surf.',
    metadata: { topic: 'island' },
  },
];
