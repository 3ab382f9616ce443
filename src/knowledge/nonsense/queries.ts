/** Queries that no knowledge base answers, of six kinds: what its hits look like if it holds nothing of the query. */

/** Concrete nouns of many subjects: a few of them fit into no question. */
const nouns = `
anchor apricot armchair attic autumn bakery balloon barrel basket beetle bicycle blanket blossom bottle bracelet bridge broom
bucket butter button cabbage camera candle canyon carpet castle ceiling cellar cereal chalk cherry chimney circus cloud
coffee comet compass copper cotton cousin cradle cricket crystal curtain dancer dentist desert diamond donkey drawer drum
eagle elbow engine envelope fabric feather fence ferry fiddle finger flame flute forest fountain funeral galaxy garden
garlic ghost giraffe glacier glove goblet guitar hammer harbour harvest hedge helmet honey hotel island ivory jacket jungle
kettle kitchen ladder lantern leather lemon library lizard lobster magnet marble market meadow medal mirror monkey morning
mountain museum napkin needle nephew notebook ocean onion orchestra oven oyster paddle painter palace parrot passenger
pepper piano picnic pigeon pilot planet plumber poem pocket pottery prince pudding puppet quarrel rabbit railway raisin
recipe ribbon river rocket sailor salad sandal scissors seagull shadow shovel silver skeleton sleigh soldier spider spoon
stadium statue storm sugar suitcase summer swallow tailor tent theatre thunder ticket tiger tobacco tomato tractor treasure
trumpet tulip tunnel turtle umbrella uncle valley velvet village violin volcano waiter wallet walnut wedding whale wheel
whisper widow window winter wizard yacht zebra
`
  .trim()
  .split(/\s+/);

const absurdities: readonly ((one: string, other: string) => string)[] = [
  (one, other) => `is the ${one} older than your ${other}?`,
  (one, other) => `who taught the ${one} to ${other}?`,
  (one) => `when will my ${one} apologise?`,
  (one, other) => `how do I iron a ${one} without waking the ${other}?`,
  (one) => `which ${one} tastes like Wednesday?`,
  (one, other) => `tell me a joke about a ${one} and a ${other}`,
  (one) => `does a ${one} need a passport?`,
  (one, other) => `${one} for sale near the ${other}`,
  (one, other) => `why is the ${one} wearing a ${other}?`,
  (one) => `cheap ${one} delivered tonight`,
  (one, other) => `can you lend my ${one} to a ${other}?`,
  (one) => `what would a ${one} say on the phone?`,
];

/** Small talk in languages of which most knowledge bases have none. */
const foreign = [
  'tahdon ostaa huomenna uuden polkupyörän',
  'a macska tegnap megette a vacsorámat',
  'nataka kwenda sokoni kesho asubuhi',
  'わたしの猫はどこで寝ていますか',
  '내일 아침에 비가 올까요',
  'நாளை மழை பெய்யுமா',
  'kus mu sinine müts on',
  'hvar er strætóstoppistöðin',
  'ซื้อส้มที่ไหนดี',
  'fejn hu l-ajruport',
  'маргааш хэдэн цагт гарах вэ',
  'gdzie jest mój parasol',
  'saan makakabili ng tinapay',
  'çayı kaça satıyorsunuz',
  'ngiyayithanda imvula ebusuku',
  'où as-tu mis mes chaussettes rouges',
  'morgen backe ich einen Kuchen für die Nachbarn',
  'mañana llevaré flores a la estación',
  'quando parte il traghetto per la spiaggia',
  'завтра мы поедем на рыбалку с дедушкой',
  'আমার ছাতাটা কোথায়',
  'मेरी साइकिल का रंग कौन सा है',
  'متى يفتح متجر الزهور',
  'איפה הנחתי את המפתחות',
  'zítra budeme péct švestkový koláč',
  'vandaag regent het in de achtertuin',
  'barnen leker med en röd boll',
  'koliko stane ta rumena čepica',
];

const keyRows = ['qwertyuiop', 'asdfghjkl', 'zxcvbnm', '0987654321', 'mnbvcxz', 'uytrewq'];
const onsets = 'b c d f g h j k l m n p qu r s t v w z ch fl gr sp th'.split(' ');
const vowels = 'a e i o u y ea ou'.split(' ');
const codas = ['', 'l', 'm', 'r', 's', 't', 'nd', 'ck', 'x'];

/** Queries of each kind that is drawn; words and absurd questions share most with records. */
const drawn = { letters: 20, keys: 15, syllables: 20, words: 45, absurdities: 45 } as const;

/**
 * Returns some 170 queries, always the same ones. `alphabet`: letters of the records, from which some are made.
 */
export function nonsenseQueries(alphabet: readonly string[]): string[] {
  // A linear congruential generator (Numerical Recipes, 2nd edition, 7.1): nothing depends on its quality.
  let state = 12_345;
  const below = (limit: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  const one = <Item>(list: readonly Item[]) => list[below(list.length)] as Item;
  const several = (least: number, most: number, make: () => string) =>
    Array.from({ length: least + below(most - least + 1) }, make);
  const run = () => {
    const row = one(keyRows);
    const begin = below(row.length - 3);
    return row.slice(begin, begin + 3 + below(5));
  };
  const syllable = () => one(onsets) + one(vowels) + one(codas);
  const make: { readonly [Kind in keyof typeof drawn]: () => string } = {
    letters: () => several(1, 4, () => several(3, 8, () => one(alphabet)).join('')).join(' '),
    keys: () => several(1, 4, run).join(' '),
    syllables: () => several(1, 5, () => several(1, 3, syllable).join('')).join(' '),
    words: () => several(2, 6, () => one(nouns)).join(' '),
    absurdities: () => one(absurdities)(one(nouns), one(nouns)),
  };
  const kinds = Object.entries(drawn) as [keyof typeof drawn, number][];
  return [...kinds.flatMap(([kind, count]) => Array.from({ length: count }, make[kind])), ...foreign];
}

/** The letters of texts, each once; those of English without any. Where a letter is a word, frequent ones make sense. */
export function lettersOf(texts: readonly string[]): string[] {
  const letters = texts.join(' ').slice(0, mostCharacters).toLowerCase().match(/\p{L}/gu);
  return letters === null ? [...'abcdefghijklmnopqrstuvwxyz'] : [...new Set(letters)];
}

const mostCharacters = 20_000;
