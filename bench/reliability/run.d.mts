export interface Outcome {
  case: string;
  tried: number;
  problems: string[];
  skipped?: string;
}
export function runKinds(
  names: readonly string[],
  options: { folder: string; seed: number; short: boolean; say(line: string): void },
): Promise<{ kind: string; outcomes: Outcome[] }[]>;
