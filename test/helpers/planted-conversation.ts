import { random } from './random.js';

/** What someone may say about a thing, in other words than they are asked with. `{who}`: "my", "my sister's" ...; `{value}`. */
interface Topic {
  readonly says: readonly string[];
  /** A later statement that differs. */
  readonly updates: readonly string[];
  readonly asks: readonly string[];
  readonly values: readonly string[];
}

const topics: readonly Topic[] = [
  {
    says: ['{Who} favourite colour is {value}.', 'The colour {who} heart is set on is {value}.'],
    updates: ['{Who} favourite colour is {value} now.', 'By now, {who} favourite colour is {value}.'],
    asks: ['Which colour is {who} favourite?', 'What is {who} favourite colour?'],
    values: ['blue', 'green', 'red', 'yellow', 'purple', 'orange', 'silver', 'turquoise'],
  },
  {
    says: ['{Who} dog is called {value}.', 'The name of {who} dog is {value}.'],
    updates: ['{Who} new dog is called {value}.', '{Who} dog goes by the name {value} these days.'],
    asks: ['What is the name of {who} dog?', 'How is {who} dog called?'],
    values: ['Rex', 'Bella', 'Max', 'Luna', 'Milo', 'Daisy', 'Rocky', 'Coco'],
  },
  {
    says: ['{Who} home is in {value}.', '{Who} flat is in {value}.'],
    updates: ['{Who} home is in {value} since the move.', '{Who} new home is in {value}.'],
    asks: ['In which city is {who} home?', 'Where is {who} home?'],
    values: ['Oslo', 'Leeds', 'Lisbon', 'Prague', 'Kyoto', 'Lyon', 'Dublin', 'Quito'],
  },
  {
    says: ['{Who} job is that of a {value}.', '{Who} profession is {value}.'],
    updates: ['{Who} new job is that of a {value}.', '{Who} profession is {value} now.'],
    asks: ['What is {who} job?', 'Which profession is {who} own?'],
    values: ['nurse', 'carpenter', 'pilot', 'teacher', 'baker', 'lawyer', 'gardener', 'painter'],
  },
  {
    says: ['{Who} favourite dish is {value}.', 'The meal that is {who} favourite is {value}.'],
    updates: ['{Who} favourite dish is {value} these days.', '{Who} favourite meal is {value} now.'],
    asks: ['What is {who} favourite dish?', 'Which food is {who} favourite?'],
    values: ['lasagne', 'ramen', 'tacos', 'dumplings', 'paella', 'goulash', 'falafel', 'pancakes'],
  },
  {
    says: ['{Who} instrument is the {value}.', '{Who} musical instrument is the {value}.'],
    updates: ['{Who} instrument is the {value} since last month.', '{Who} new instrument is the {value}.'],
    asks: ['Which instrument is {who} own?', 'What is {who} instrument?'],
    values: ['violin', 'piano', 'flute', 'drums', 'cello', 'trumpet', 'harp', 'guitar'],
  },
  {
    says: ['{Who} birthday is in {value}.', 'The month of {who} birthday is {value}.'],
    updates: ['No, {who} birthday is in {value}.', 'I was wrong: {who} birthday is in {value}.'],
    asks: ['When is {who} birthday?', 'In which month is {who} birthday?'],
    values: ['January', 'March', 'April', 'June', 'August', 'October', 'November', 'December'],
  },
  {
    says: ['{Who} allergy is to {value}.', '{Who} doctor found an allergy to {value}.'],
    updates: [
      '{Who} allergy is to {value}, says the new test.',
      '{Who} allergy turned out to be to {value}.',
    ],
    asks: ['What is {who} allergy?', 'To what is {who} allergy?'],
    values: ['peanuts', 'pollen', 'cats', 'wool', 'shellfish', 'penicillin', 'dust', 'latex'],
  },
  {
    says: ['{Who} door code is {value}.', 'The code of {who} door is {value}.'],
    updates: ['{Who} door code is {value} from now on.', '{Who} new door code is {value}.'],
    asks: ['What is {who} door code?', 'Which code opens {who} door?'],
    values: ['4711', '4712', '1984', '2580', '9137', '6402', '7755', '3019'],
  },
  {
    says: ['{Who} car is a {value} one.', '{Who} car is {value}.'],
    updates: ['{Who} new car is a {value} one.', '{Who} car is {value} after the repaint.'],
    asks: ['What does {who} car look like?', 'What kind of car is {who} car?'],
    values: ['black', 'white', 'rusty', 'beige', 'electric', 'golden', 'striped', 'tiny'],
  },
];

const people: readonly [subject: string, possessive: string, asked: string][] = [
  ['My', 'my', 'my'],
  ["My sister's", "my sister's", "my sister's"],
  ["My brother's", "my brother's", "my brother's"],
  ["Anna's", "Anna's", "Anna's"],
  ["Paul's", "Paul's", "Paul's"],
  ["Miriam's", "Miriam's", "Miriam's"],
  ["My neighbour's", "my neighbour's", "my neighbour's"],
  ["My boss's", "my boss's", "my boss's"],
];

/** Small talk: combinations of these say nothing about anybody. */
const talk = {
  starts: ['I think', 'By the way', 'Honestly', 'You know', 'Well', 'Today', 'Yesterday', 'Look'],
  middles: [
    'the weather has been strange',
    'the bus was late again',
    'that film was far too long',
    'the market was full of people',
    'the printer needs new paper',
    'the garden could use some rain',
    'nobody answered the phone',
    'the lift is out of order',
    'the coffee tastes burnt',
    'the match ended in a draw',
    'the new shop opens at nine',
    'the train was empty for once',
  ],
  ends: [
    '.',
    ', as always.',
    ', believe it or not.',
    ', and it will stay so.',
    ' this week.',
    ' for days now.',
  ],
  questions: [
    'How far is it to the moon?',
    'Can you tell me a story?',
    'What time is it over there?',
    'Do you like music?',
    'Why is the sea salty?',
    'Which way is north?',
    'What should we cook tonight?',
    'Is it going to snow?',
  ],
};

export interface PlantedConversation {
  /** What the user says, turn by turn. */
  readonly turns: readonly string[];
  /** Questions, with the statement that is right and latest. */
  readonly questions: readonly {
    readonly text: string;
    readonly answer: string;
    readonly updated: boolean;
  }[];
}

/**
 * A conversation of `length` turns: facts about several people, of which half are updated once or twice later, facts about others as
 * distractors, and small talk between them. The same for the same seed. Every question is about one fact at its end.
 */
export function plantedConversation(seed: number, length = 500): PlantedConversation {
  const next = random(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)] as T;
  const shuffled = <T>(list: readonly T[]): T[] =>
    list
      .map((value) => [next(), value] as const)
      .sort(([a], [b]) => a - b)
      .map(([, value]) => value);
  const pairs = shuffled(topics.flatMap((topic) => people.map((person) => ({ topic, person }))));
  const said = new Map<number, string>();
  const free = shuffled(Array.from({ length }, (_, index) => index));
  const questions: PlantedConversation['questions'][number][] = [];
  for (const [index, { topic, person }] of pairs.entries()) {
    const [Who, who, asked] = person;
    const updates = index % 4 === 0 ? 2 : index % 2;
    const places = free.splice(0, 1 + updates).sort((a, b) => a - b);
    const values = shuffled(topic.values).slice(0, places.length);
    const texts = places.map((_, at) =>
      pick(at === 0 ? topic.says : topic.updates)
        .replace('{Who}', Who)
        .replace('{who}', who)
        .replace('{value}', values[at] as string),
    );
    for (const [at, place] of places.entries()) said.set(place, capital(texts[at] as string));
    const text = capital(pick(topic.asks).replace('{who}', asked));
    questions.push({ text, answer: capital(texts.at(-1) as string), updated: updates > 0 });
  }
  const small = () =>
    next() < 0.2 ? pick(talk.questions) : `${pick(talk.starts)}, ${pick(talk.middles)}${pick(talk.ends)}`;
  const turns = Array.from({ length }, (_, index) => said.get(index) ?? small());
  return { turns, questions };
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
