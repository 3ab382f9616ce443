/** Abbreviations, by the meaning of the full stop after them. Lower case, without the last full stop. */

const words = (text: string) => new Set(text.split(/\s+/).filter(Boolean));

/** Never end a sentence: titles, and words that refer to the next word. */
const leading = words(`
  mr mrs ms mx messrs dr drs prof rev fr hon gov sen rep pres gen col lt sgt cpl capt cmdr adm maj st ste mt ft
  vs cf ca approx viz e.g i.e e.g., i.e., al
  hr frl dipl ing bzw z.b z.t d.h u.a vgl evtl ggf inkl sog mme mlle mm mgr p.ex sr sra srta dña ud uds pág págs núm
  sig sigg dott avv on av vb örn yrd doç им ул т.е т.к т.н напр акад проф св стр рис гл вып κ κα κος π.χ βλ
`);

/** Precede a number or a Roman numeral: "No. 5", "p. xii". */
const beforeNumbers = words(
  'no nos nr n art fig figs eq vol vols ch sec p pp op ed bd num núm pág s г № тел',
);

/** End a sentence only if a common sentence starter follows. */
const either = words(`
  etc inc ltd co corp bros llc plc jr sr esq dept est univ assn ave blvd rd no.s
  jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun
  usw usf str ff env esc ecc ecc dst ул тыс млн млрд руб коп гг вв др пр т.д т.п р
  a.m p.m u.s u.k u.n u.s.a e.u d.c ph.d m.d b.a m.a b.c a.d ee.uu
`);

/** Months, which German and related languages write after an ordinal: "am 3. Oktober". */
const months = words(`
  januar jänner februar märz april mai juni juli august september oktober november dezember
  januari februari mars maj marts maart mei augusti augustus oktobar
`);

/** Common sentence starters that rarely follow an abbreviation within a sentence. */
const starters = words(`
  the a an this that these those it its he she they we you i his her their our my there here in on at by for from
  after before during when while if as although though because since however but and or so then thus also what who
  where why how some many most all no not one two both each every other another such only even with without under
  der die das ein eine es er sie wir ich im am in und aber dies diese le la les un une il elle ils ce cette el los las
  ella su он она они это в на и но
`);

/**
 * Returns whether the sentence continues after `word` and a full stop (not part of `word`). `next`: the following text up
 * to a blank.
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
