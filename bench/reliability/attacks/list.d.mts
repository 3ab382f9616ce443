export const attackList: { name: string; lanes: number; door?: boolean }[];
