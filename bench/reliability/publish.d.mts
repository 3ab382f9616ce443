export interface CampaignResult {
  kind: string;
  seed: string;
  minutes: number;
  outcomes: object[];
}
export function sum(earlier: CampaignResult, fresh: CampaignResult): CampaignResult;
