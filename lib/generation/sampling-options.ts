import { integer, number } from '../boundary/option.js';

const native = true;
const penalty = { usual: 0, native } as const;

/** Every option of sampling: the one place of its names, range, default and text. */
export const samplingOptions = {
  temperature: number([0, 10], '0: always the likeliest token.', { usual: 0.7, flag: '<t>', native }),
  topK: integer([0, 1_048_576], 'Number of likeliest tokens to draw from; 0: all.', { usual: 40, native }),
  topP: number([0, 1], 'Share of probability to draw from.', { above: true, usual: 0.95, native }),
  minP: number([0, 1], 'Minimum probability, as a share of the likeliest.', { usual: 0.05, native }),
  repeatPenalty: number([0.01, 10], 'Divides the scores of recent tokens.', { usual: 1, native }),
  frequencyPenalty: number([-2, 2], 'Subtracted for each time that a token was used.', penalty),
  presencePenalty: number([-2, 2], 'Subtracted for a token that was used.', penalty),
  penaltyLastN: integer([0, 1_048_576], 'Number of recent tokens that penalties consider.', {
    usual: 64,
    native,
  }),
} as const;
