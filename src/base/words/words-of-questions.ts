import { functionWords } from './function-words.js';

/** Words of questions that say nothing about their subject, beside the function words of texts. Lower case, NFC. */
const ofQuestions: Readonly<Record<string, string>> = {
  English:
    'a in i me my mine he him his she her its us our them who whom whose where why does did do done is am being could should would may might must shall any some so no into out up then than only s t',
  German:
    'wer wen wem wessen wo wohin woher wann warum wieso weshalb was welche welcher welches welchen wieviel in bin bist sind war waren hat hatte habe haben mein meine mir mich du dein ihr ihre sein seine gibt man diese dieser dieses den des dem vor',
  French:
    'où quand pourquoi quel quelle quels quelles quoi comment combien je tu me te mon ma mes son sa ses notre votre à y sont était on cet d l s n c j m t',
  Spanish:
    'quién quiénes qué dónde adónde cuándo cómo cuál cuáles cuánto cuántos cuánta cuántas por mi tu su es son fue era hubo haber está están yo nos',
  Portuguese:
    'quem onde quando como qual quais quanto quantos quantas porque porquê é são foi era está estão meu minha seu sua eu nos',
  Italian:
    'chi cosa che dove quando come quale quali quanto quanti perché è sono era mio mia suo sua io mi ti d l dell dall nell sull all',
  Dutch: 'wie waar wanneer waarom hoe welke welk hoeveel ik je mijn zijn haar is was waren had heb hebben',
  Swedish: 'vem vad var när varför hur vilken vilket vilka min mitt mina din ditt hans hennes är',
  Danish: 'hvem hvad hvor hvornår hvorfor hvordan hvilken hvilket hvilke min mit mine din dit hans hendes',
  Polish: 'kto co gdzie kiedy dlaczego czemu ile jaki jaka jakie która kogo komu czy mój moja moje',
  Czech: 'kdo co kde kdy proč jaký jaká jaké kolik čí můj moje jsem jsi',
  Romanian: 'cine unde când cum cât câți câte ce de ale a îi le este',
  Hungarian: 'ki mi hol mikor miért hogyan melyik hány mennyi milyen',
  Finnish: 'kuka mikä missä milloin miksi miten montako kumpi onko',
  Turkish: 'kim nerede nereden nereye niçin neden nasıl hangi kaç mı mu mü nedir kimdir',
  Vietnamese: 'ai gì đâu nào sao bao giờ mấy tại thế',
  Indonesian: 'siapa apa mana kapan mengapa bagaimana berapa dimana',
  Russian:
    'и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее её мне было вот от меня о из ему когда где куда кто кого чей какой какая какие каком почему зачем сколько ли это этот эта эти для при до над под был была были быть есть мы их',
  Ukrainian:
    'і й в у не що він на я з зі як а то все вона так його але та ти до же ви за би по тільки від мене про із йому коли де куди хто кого чий який яка які чому скільки чи це цей ця ці для при над під був була були є ми їх',
  Greek:
    'και το η ο οι τα τον την του της των να σε στο στη στην στον με για από που πού πότε πώς πως ποιος ποια ποιο ποιοι ποιες γιατί πόσο πόσα τι είναι ήταν δεν θα ένα μια ένας',
};

/** Longer questions are looked at as far as this, in UTF-16 units. */
const mostLookedAt = 4000;

const lists = [...new Set([...Object.keys(functionWords), ...Object.keys(ofQuestions)])].map(
  (language) => new Set(`${functionWords[language] ?? ''} ${ofQuestions[language] ?? ''}`.split(' ')),
);

/**
 * Returns the words of a question that say nothing about its subject, in the language that has most of them. None if the question
 * has no other words.
 */
export function wordsOfQuestion(text: string): string[] {
  const found = text.slice(0, mostLookedAt).normalize('NFC').toLowerCase();
  const words = new Set(found.match(/[\p{L}\p{M}\p{N}]+/gu));
  let best: string[] = [];
  for (const list of lists) {
    const known = [...words].filter((word) => list.has(word));
    if (known.length > best.length) best = known;
  }
  return best.length === words.size ? [] : best;
}
