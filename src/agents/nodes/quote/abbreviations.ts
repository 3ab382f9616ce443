/** Abbreviations by what a full stop behind them means. Lower case, without the last full stop. */

const words = (text: string) => new Set(text.split(/\s+/).filter(Boolean));

/** Always stand before something else: titles, and words that point at what follows. */
const leading = words(`
  mr mrs ms mx messrs dr drs prof rev fr hon gov sen rep pres gen col lt sgt cpl capt cmdr adm maj st ste mt ft
  vs cf ca approx viz e.g i.e e.g., i.e., al
  hr frl dipl ing bzw z.b z.t d.h u.a vgl evtl ggf inkl sog mme mlle mm mgr p.ex sr sra srta dña ud uds pág págs núm
  sig sigg dott avv on av vb örn yrd doç им ул т.е т.к т.н напр акад проф св стр рис гл вып κ κα κος π.χ βλ
`);

/** Stand before a number or a Roman numeral: "No. 5", "p. xii". */
const beforeNumbers = words(
  'no nos nr n art fig figs eq vol vols ch sec p pp op ed bd num núm pág s г № тел',
);

/** May end a sentence: they do before a word that commonly begins one. */
const either = words(`
  etc inc ltd co corp bros llc plc jr sr esq dept est univ assn ave blvd rd no.s
  jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun
  usw usf str ff env esc ecc ecc dst ул тыс млн млрд руб коп гг вв др пр т.д т.п р
  a.m p.m u.s u.k u.n u.s.a e.u d.c ph.d m.d b.a m.a b.c a.d ee.uu
`);

/** Months that German and its neighbours write behind an ordinal: "am 3. Oktober". */
const months = words(`
  januar jänner februar märz april mai juni juli august september oktober november dezember
  januari februari mars maj marts maart mei augusti augustus oktobar
`);

/** Words that commonly begin a sentence and seldom follow an abbreviation within one. */
const starters = words(`
  the a an this that these those it its he she they we you i his her their our my there here in on at by for from
  after before during when while if as although though because since however but and or so then thus also what who
  where why how some many most all no not one two both each every other another such only even with without under
  der die das ein eine es er sie wir ich im am in und aber dies diese le la les un une il elle ils ce cette el los las
  ella su он она они это в на и но
`);

/**
 * Whether the full stop at the end of `word` (given without it) leaves the sentence open, when `next` follows: the text
 * up to the next blank.
 */
export function leavesOpen(word: string, next: string): boolean {
  const lower = word.toLowerCase();
  const nextWord = next.replace(/^[\p{P}\p{S}]+|[\p{P}\p{S}]+$/gu, '').toLowerCase();
  if (leading.has(lower)) return true;
  if (beforeNumbers.has(lower) && /^[\p{P}]*(\p{N}|[ivxlcdm]+\b)/iu.test(next)) return true;
  if (/^\d{1,2}$/.test(word)) return months.has(nextWord);
  if (/^\p{L}$/u.test(word) && /^\p{L}\p{M}*\./u.test(next)) return true;
  const startsAnew = starters.has(nextWord);
  if (isInitial(word)) return word !== 'I' || !startsAnew;
  return (either.has(lower) || isDotted(word)) && !startsAnew;
}

/** One capital letter, as in "J. R. R. Tolkien". */
const isInitial = (word: string) => /^\p{Lu}\p{M}*$/u.test(word);

/** Letters with full stops between them: "U.S", "p.m". */
const isDotted = (word: string) => /^(\p{L}\p{M}*\.)+\p{L}\p{M}*$/u.test(word);
