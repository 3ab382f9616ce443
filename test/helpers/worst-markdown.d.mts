export const worstMarkdown: Readonly<Record<string, (n: number) => string>>;
