import { describe, expect, it } from 'vitest';
import { configFlags } from '../../src/config/flags.js';
import { otherVariables, unknownVariables } from '../../src/config/variables.js';

describe('variables of the environment', () => {
  it('that are known are all right, and so are those of tests and of Kubernetes', () => {
    const known = [...configFlags.map(({ variable }) => variable), ...Object.keys(otherVariables)];
    const others = ['DATA', 'TEST_SEED', 'SERVICE_HOST', 'SERVICE_PORT_TCP', 'PORT_9100_TCP_ADDR'];
    const names = [...known, ...others.map((name) => `LOREKEEP_${name}`), 'PORT', 'MY_LOREKEEP_PORT'];
    expect(unknownVariables(Object.fromEntries(names.map((name) => [name, 'x'])))).toEqual([]);
  });

  it.each([
    ['LOREKEEP_PRT', 'LOREKEEP_PORT'],
    ['LOREKEEP_CONFG', 'LOREKEEP_CONFIG'],
    ['LOREKEEP_NETWORKACCESS', 'LOREKEEP_NETWORK_ACCESS'],
    ['LOREKEEP_IDLE_SHUTDOWN_TIMOUT', 'LOREKEEP_IDLE_SHUTDOWN_TIMEOUT'],
  ])('that are misspelt are told with the nearest name: %s', (name, nearest) => {
    expect(unknownVariables({ [name]: '1' })).toEqual([
      `${name}: is not a known variable of the environment; did you mean "${nearest}"?; it has no effect`,
    ]);
  });

  it('that are near to none are told all the same, and empty ones count as absent', () => {
    const told = unknownVariables({ LOREKEEP_LOG_LEVEL: 'trace', LOREKEEP_EMPTY: '' });
    expect(told).toEqual([
      'LOREKEEP_LOG_LEVEL: is not a known variable of the environment; it has no effect',
    ]);
  });

  it.skipIf(process.platform === 'win32')('are told from those in lower case', () => {
    expect(unknownVariables({ lorekeep_port: '1' })[0]).toContain('did you mean "LOREKEEP_PORT"?');
  });
});
