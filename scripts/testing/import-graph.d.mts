/** See import-graph.mjs. */
export declare class ImportGraph {
  constructor(root: string);
  importsOf(file: string): string[];
  closureOf(file: string): Set<string>;
  loadsAddon(file: string): boolean;
}
export declare function testFiles(root: string): string[];
export declare function testsByAddon(root: string): { withAddon: string[]; withoutAddon: string[] };
