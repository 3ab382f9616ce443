export function clientTypes(
  load: (name: string) => Promise<object>,
): Promise<{ text: string; undescribed: string[] }>;
