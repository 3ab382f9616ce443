// Requests with a field that is another value, missing, unknown, or there twice.

const values = [
  ...[
    null,
    true,
    false,
    0,
    -1,
    0.5,
    1e308,
    2 ** 53,
    '',
    ' ',
    'x'.repeat(300),
    '\0',
    '../../../etc/passwd',
    '/proc/self/environ',
  ],
  ...[
    [],
    [[]],
    {},
    { a: { b: {} } },
    [null],
    ['a', 1],
    { and: [] },
    { '==': [{ knowledge: 'year' }, { variable: 'v' }] },
  ],
  ...[
    '{{text}}',
    '{{#a}}{{/a}}',
    '{{',
    'lorekeep.x',
    '__proto__',
    'constructor',
    'ａ',
    '\u202e',
    '𝄞'.repeat(40),
  ],
];

/** @param requests JSON texts @returns a payload */
export function fieldMutation(requests, random) {
  const request = JSON.parse(random.of(requests));
  const { holder, key } = place(request, random);
  const kind = random.below(5);
  if (kind === 0) delete holder[key];
  else if (kind === 1) holder[`${key}x`] = random.of(values);
  else if (kind === 2) return Buffer.from(twice(request, random));
  else holder[key] = random.of(values);
  return Buffer.from(JSON.stringify(request));
}

/** A random place at any depth. */
function place(value, random) {
  let holder = value;
  for (;;) {
    const key = random.of(Object.keys(holder));
    const inner = holder[key];
    const goOn =
      inner !== null && typeof inner === 'object' && Object.keys(inner).length > 0 && random.below(3) > 0;
    if (!goOn) return { holder, key };
    holder = inner;
  }
}

function twice(request, random) {
  const key = random.of(Object.keys(request));
  return JSON.stringify(request).replace(
    '{',
    `{${JSON.stringify(key)}:${JSON.stringify(random.of(values))},`,
  );
}
