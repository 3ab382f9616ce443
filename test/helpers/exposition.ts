import { expect } from 'vitest';

export interface Sample {
  /** Name and labels as they are written. */
  series: string;
  name: string;
  labels: Readonly<Record<string, string>>;
  value: number;
}

export interface Family {
  type: string;
  samples: Sample[];
}

const label = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"/;
const line = new RegExp(
  `^([a-zA-Z_:][\\w:]*)(?:\\{((?:${label.source})(?:,${label.source})*)\\})? (NaN|[+-]Inf|-?\\d+(?:\\.\\d+)?(?:e[+-]?\\d+)?)$`,
);

/** Parses the text format of Prometheus (0.0.4) and checks all of its rules that a scrape can break. */
export function parseExposition(text: string): Map<string, Family> {
  expect(text.endsWith('\n')).toBe(true);
  const families = new Map<string, Family>();
  const described = new Set<string>();
  const seen = new Set<string>();
  let latest = '';
  for (const one of text.split('\n').filter((each) => each !== '')) {
    const [, kind, about = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(one) ?? [];
    if (kind === 'HELP') {
      expect(described.has(about), `${about} is described once`).toBe(false);
      // A backslash begins an escape.
      expect(rest, about).toMatch(/^(?:[^\\]|\\[\\n])+$/);
      described.add(about);
    } else if (kind === 'TYPE') {
      expect(families.has(about), `${about} has one type, before its samples`).toBe(false);
      expect(rest, about).toMatch(/^(counter|gauge|histogram)$/);
      families.set(about, { type: rest, samples: [] });
      latest = about;
    } else {
      const sample = parsedSample(one);
      const family = families.get(latest);
      const suffixes = family?.type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
      expect(
        suffixes.map((suffix) => latest + suffix),
        `${one} stands below its type`,
      ).toContain(sample.name);
      expect(seen.has(sample.series), `${sample.series} stands once`).toBe(false);
      seen.add(sample.series);
      family?.samples.push(sample);
    }
  }
  expect([...described].sort()).toEqual([...families.keys()].sort());
  for (const [name, family] of families) checkFamily(name, family);
  return families;
}

function parsedSample(text: string): Sample {
  const [, name = '', labels = ''] = line.exec(text) ?? expect.fail(`no sample: ${text}`);
  const pairs = [...labels.matchAll(new RegExp(label, 'g'))].map(([, key = '', value = '']) => [key, value]);
  expect(new Set(pairs.map(([key]) => key)).size, `${text}: each label once`).toBe(pairs.length);
  const [series = '', value = ''] = [
    text.slice(0, text.lastIndexOf(' ')),
    text.slice(text.lastIndexOf(' ') + 1),
  ];
  return { series, name, labels: Object.fromEntries(pairs), value: Number(value.replace('Inf', 'Infinity')) };
}

function checkFamily(name: string, { type, samples }: Family): void {
  if (type === 'counter') {
    expect(name).toMatch(/_total$/);
    for (const { series, value } of samples) expect(value, series).toBeGreaterThanOrEqual(0);
  }
  if (type !== 'histogram') return;
  const groups = new Map<string, { buckets: [number, number][]; sum?: number; count?: number }>();
  for (const { name: own, labels, value } of samples) {
    const { le, ...others } = labels;
    const key = JSON.stringify(Object.entries(others).sort());
    const group = groups.get(key) ?? { buckets: [] };
    groups.set(key, group);
    if (own.endsWith('_bucket')) group.buckets.push([Number(le?.replace('Inf', 'Infinity')), value]);
    else if (own.endsWith('_sum')) group.sum = value;
    else group.count = value;
  }
  for (const [key, { buckets, sum, count }] of groups) {
    const about = `${name} ${key}`;
    expect(sum, about).toBeGreaterThanOrEqual(0);
    expect(buckets.at(-1), about).toEqual([Number.POSITIVE_INFINITY, count]);
    for (const [i, [bound, held]] of buckets.entries()) {
      const [lower, below] = buckets[i - 1] ?? [Number.NEGATIVE_INFINITY, 0];
      expect(bound, about).toBeGreaterThan(lower);
      expect(held, about).toBeGreaterThanOrEqual(below);
    }
  }
}
