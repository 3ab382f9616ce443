const names = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** Elements whose content a browser does not show as text. */
const unseen = names(
  'script style noscript noframes noembed template annotation annotation-xml iframe object canvas audio video select textarea datalist',
);

/** Elements of a drawing with text that a browser shows, and those within them without. */
export const drawnText = names('text foreignobject');
export const drawnNotes = names('title desc metadata defs');

/** Elements in the place of words, which a browser shows as something else. */
export const replaced = names('svg iframe object canvas audio video select textarea button');

/** Elements that repeat on every page of a site. */
const boilerplate = names('nav footer');

const boilerplateRoles = names('navigation contentinfo');

/** Controls: their words count only where they are the words of a heading or of a summary. */
const controls = names('button label');

/** Elements in which the words of controls count. */
export const captions = names('h1 h2 h3 h4 h5 h6 summary dt legend caption');

export const blockElements = names(
  'address article aside blockquote caption center dd details dialog div dl dt fieldset figcaption figure form header hgroup hr legend li main menu ol p pre search section summary table tbody td tfoot th thead tr ul body html head option optgroup',
);

export const isBlock = (name: string): boolean => blockElements.has(name) || boilerplate.has(name);

/** Returns whether an element and all within it is dropped. `inCaption`: an open element is of `captions`. */
export function isDropped(
  name: string,
  attributes: Readonly<Record<string, string>>,
  inCaption: boolean,
): boolean {
  if (unseen.has(name)) return true;
  if (boilerplate.has(name) || boilerplateRoles.has(attributes.role ?? '')) return true;
  if (controls.has(name)) return !inCaption;
  if (name === 'dialog') return attributes.open === undefined;
  return isHidden(attributes);
}

function isHidden({ hidden, style }: Readonly<Record<string, string>>): boolean {
  if (hidden !== undefined && hidden.toLowerCase() !== 'until-found') return true;
  if (style === undefined || style.length > longestStyle) return false;
  return /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse))\s*(?:!important\s*)?(?:;|$)/i.test(
    style,
  );
}

/** A longer style is not read. */
const longestStyle = 2000;
