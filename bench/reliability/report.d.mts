import type { CampaignResult } from './publish.mjs';

export function campaignTable(results: readonly CampaignResult[]): { rows: { note: string }[] };
