/** Finds the lines of source code that define functions, classes and types, by patterns of a line. */

export interface Definition {
  /** Number of the line from 0. */
  line: number;
  /** Columns of white space before it. */
  indent: number;
  name: string;
  /** Whether functions may be its members. */
  isType: boolean;
}

/** A longer line defines nothing. */
const longestLine = 400;

/** Definitions that are indented further are parts of others. */
const deepest = 12;

const words = (text: string) => new Set(text.split(' '));

const modifiers =
  'export|default|public|private|protected|internal|static|abstract|final|sealed|async|unsafe|pub(?:\\([a-z]{1,9}\\))?|open|override|inline|extern|declare|partial|data|virtual|const|constexpr|suspend|operator|infix|tailrec|companion|inner|value|annotation|local|fileprivate|mutating|required|convenience|readonly|global|case|implicit|lazy|typedef|template';

const functionWords = 'function\\*?|def|defp|defmacro|defmacrop|fn|func|fun|sub|procedure';

const typeWords =
  'class|interface|struct|enum|trait|type|module|mod|namespace|object|protocol|extension|record|union|actor|mixin|defmodule|defprotocol|defimpl|newtype|instance';

/** Annotations on the line of what they are about. */
const annotations = '(?:@[\\w.]{1,60}(?:\\([^()]{0,200}\\))?[ \\t]+){0,4}';

const annotated = new RegExp(`^([ \\t]*)${annotations}`);

/** A definition by a keyword: its indent, the keyword, and the name. */
const keyword = new RegExp(
  `^([ \\t]*)${annotations}(?:(?:${modifiers})\\s+){0,6}(${functionWords}|${typeWords})\\s+(?:\\([^)]{0,100}\\)\\s*)?(?:class\\s+)?([A-Za-z_$][\\w$.:]{0,100}[?!]?)`,
);

const typeWord = new RegExp(`^(?:${typeWords})$`);

/** What a type of Rust implements is of the type. */
const implementation =
  /^([ \t]*)(?:unsafe\s+)?impl(?:<[^{]{0,200}?>)?\s+(?:!?[\w:]{1,100}(?:<[^{]{0,200}>)?\s+for\s+)?&?([A-Za-z_][\w:]{0,100})/;

/** A function that is assigned to a name at the beginning of a line. */
const assigned =
  /^(?:export\s+(?:default\s+)?)?(?:(?:const|let|var|local)\s+)?([A-Za-z_$][\w$.]{0,100})\s*(?::[^=]{0,200})?(?:=|<-)\s*(?:async\s*)?(?:function\b|\([^)]{0,200}\)[^=]{0,100}=>|[A-Za-z_$][\w$]{0,100}\s*=>)/;

/** A function of C and its relatives at the beginning of a line; its body may be on the line. */
const cFunction =
  /^[A-Za-z_][\w:<>,*&\s]{0,120}?[\s*&]([A-Za-z_~][\w:~]{0,100})\s?\((?:[^;]*$|[^;{}()]{0,300}\)[\s\w]{0,40}\{)/;

/** Its name alone, below its type and above its body. */
const nameOfFunction = /^([A-Za-z_]\w{0,100})\s?\([^;{}]{0,300}\)\s*$/;

/** A method of Go: the type of its receiver, and its name. */
const goMethod = /^func\s+\(\s*(?:\w{1,60}\s+)?\*?\s*(\w{1,100})(?:\[[^\]]{0,100}\])?\s*\)\s*(\w{1,100})/;

/** A member of a class: a name with parameters, and no value, call or end of a statement. */
const typedMember =
  /^([ \t]{1,12})(?:[A-Za-z_][\w<>[\],.?&*:\s]{0,160}?[\s*&>\]])?(~?[A-Za-z_]\w{0,100})\s*\([^;={}]{0,300}(?:\{.{0,300})?$/;
const scriptMember =
  /^([ \t]{1,12})(?:(?:public|private|protected|static|async|readonly|override|abstract|get|set)\s+){0,6}\*?\s*(#?[A-Za-z_$][\w$]{0,100})\s*(?:<[^(]{0,100}>)?\([^;]{0,300}\{(?:.{0,300})?$/;
const swiftMember = /^([ \t]{1,12})(?:[a-z]{1,20}\s+){0,4}((?:de)?init)\b/;

const script = words('js mjs cjs jsx ts mts cts tsx');
const cLike = words('c h cc cpp cxx hh hpp m mm java cs dart');
const withTypedMembers = words('cc cpp cxx hh hpp h java cs dart scala groovy');

/** Patterns of one language each: the first group is the name. */
const others: readonly (readonly [languages: ReadonlySet<string>, pattern: RegExp, isType: boolean])[] = [
  [words('sh bash zsh'), /^([\w:.-]{1,100})\s*\(\)/, false],
  [
    words('sql'),
    /^\s{0,8}CREATE\s+(?:OR\s+REPLACE\s+)?(?:(?:GLOBAL|TEMP|TEMPORARY|UNIQUE|MATERIALIZED|EXTERNAL)\s+){0,3}(?:TABLE|VIEW|FUNCTION|PROCEDURE|TRIGGER|INDEX|TYPE|SCHEMA|SEQUENCE|PACKAGE(?:\s+BODY)?)\s+(?:IF\s+NOT\s+EXISTS\s+)?([\w."`[\]]{1,200})/i,
    false,
  ],
  [words('rs'), /^\s{0,8}macro_rules!\s*(\w{1,100})/, false],
  [words('hs'), /^([a-z_][\w']{0,100})\s*::/, false],
  [words('hs'), /^(?:data|type)\s+(?:family\s+)?(\w{1,100})/, true],
  [
    words('clj'),
    /^\((?:defn-?|def|defmacro|defmulti|defmethod|defprotocol|defrecord|deftype|ns)\s+(?:\^\S{1,60}\s+)?([^\s()[\]{}]{1,100})/,
    false,
  ],
  [words('m mm'), /^[-+]\s{0,4}\([^)]{1,100}\)\s{0,4}(\w{1,100})/, false],
  [words('m mm'), /^@(?:interface|implementation|protocol)\s+(\w{1,100})/, true],
  [words('erl'), /^([a-z]\w{0,100})\([^)]{0,300}\)\s*(?:when\b.{0,300})?->/, false],
  [words('jl'), /^(\w{1,100}[!]?)\([^)]{0,200}\)\s*=[^=]/, false],
];

const statements = words(
  'if for while switch return else do catch sizeof case new throw using lock foreach when with until unless synchronized super this await yield assert typeof delete default try match loop',
);

/** Returns the definitions of a text in order. `language`: the ending of its file. */
export function definitionsIn(lines: readonly string[], language: string): Definition[] {
  const found: Definition[] = [];
  let open: Definition[] = [];
  for (const [line, text] of lines.entries()) {
    if (text.length > longestLine || text.trim() === '') continue;
    const indent = indentOf(text);
    if (indent > deepest) continue;
    const parent = open.findLast((other) => other.indent < indent);
    const defined = definitionOf(text, language, parent) ?? functionAbove(lines, line, language);
    if (defined === undefined || statements.has(defined.name)) continue;
    const name = defined.name.replace(/[.:]+$/, '');
    const definition = { line, indent, name, isType: defined.isType };
    open = [...open.filter((other) => other.indent < indent), definition];
    found.push(definition);
  }
  return found;
}

const indentOf = (text: string) => {
  const white = /^[ \t]*/.exec(text)?.[0] ?? '';
  return white.replaceAll('\t', '    ').length;
};

/** Returns the function whose body begins on the next line, and whose type stands above it. */
function functionAbove(lines: readonly string[], line: number, language: string) {
  if (!cLike.has(language) || !/^\{\s*$/.test(lines[line + 1] ?? '') || !/^\w/.test(lines[line - 1] ?? ''))
    return undefined;
  const name = nameOfFunction.exec(lines[line] as string)?.[1];
  return name === undefined ? undefined : { name, isType: false };
}

function definitionOf(
  text: string,
  language: string,
  parent: Definition | undefined,
): { name: string; isType: boolean } | undefined {
  const implemented = language === 'rs' ? implementation.exec(text) : null;
  if (implemented !== null) return { name: implemented[2] as string, isType: true };
  const [, receiver, method] = (language === 'go' ? goMethod.exec(text) : null) ?? [];
  if (method !== undefined) return { name: `${receiver}.${method}`, isType: false };
  const [, , word, named] = keyword.exec(text) ?? [];
  if (named !== undefined) return { name: named, isType: typeWord.test(word as string) };
  for (const [languages, pattern, isType] of others) {
    const name = languages.has(language) ? pattern.exec(text)?.[1] : undefined;
    if (name !== undefined) return { name, isType };
  }
  const name =
    assigned.exec(text)?.[1] ??
    (cLike.has(language) ? cFunction.exec(text)?.[1] : undefined) ??
    (parent?.isType ? memberOf(text, language) : undefined);
  return name === undefined ? undefined : { name, isType: false };
}

/** Returns the name of a function in the body of a type. */
function memberOf(line: string, language: string): string | undefined {
  const text = line.replace(annotated, '$1');
  if (/^\s*[@[#/*]/.test(text) && !/^\s*#[A-Za-z_$]/.test(text)) return undefined;
  if (script.has(language)) return scriptMember.exec(text)?.[2];
  if (language === 'swift') return swiftMember.exec(text)?.[2];
  return withTypedMembers.has(language) ? typedMember.exec(text)?.[2] : undefined;
}
