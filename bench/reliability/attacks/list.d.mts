export const attackList: { name: string; lanes: number }[];
