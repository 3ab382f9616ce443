export const kindNames: string[];
