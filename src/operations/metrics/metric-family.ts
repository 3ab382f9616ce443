export type Labels = Readonly<Record<string, string | number>>;

/** Adds a sample to a metric. */
export type AddSample = (value: number, labels?: Labels) => void;

/** A metric that is read when it is scraped. */
export interface MetricFamily {
  type: 'counter' | 'gauge';
  name: string;
  help: string;
  read(add: AddSample): void | Promise<void>;
}

/** Content type of the text format of Prometheus, version 0.0.4. */
export const contentType = 'text/plain; version=0.0.4; charset=utf-8';

/** Returns a metric in the text format of Prometheus. `help` is one line. */
export async function familyText({ type, name, help, read }: MetricFamily): Promise<string> {
  const lines = [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
  await read((value, labels = {}) => lines.push(`${name}${labelsText(labels)} ${numberText(value)}`));
  return `${lines.join('\n')}\n`;
}

function labelsText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${escaped(String(value))}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

const escaped = (text: string) =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}
