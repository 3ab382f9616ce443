// The columns of both tables: lorekeep beside the peer.
import { own } from '../generation/contestants.mjs';

export const peer = 'llama-server';

export const comparedColumns = [
  { key: 'row', label: '' },
  { key: 'own', label: own },
  { key: 'peer', label: peer },
  { key: 'ratio', label: 'ratio', digits: 3 },
  { key: 'asked', label: 'asked', digits: 2 },
  { key: 'rounds', label: 'rounds', digits: 0 },
];
