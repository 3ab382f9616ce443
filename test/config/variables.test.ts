import { describe, expect, it } from 'vitest';
import { configFlags } from '../../src/config/flags.js';
import { otherVariables, unknownKernels, unknownVariables } from '../../src/config/variables.js';

describe('variables of the environment', () => {
  it('that are known are fine, and so are the ones of tests and of Kubernetes', () => {
    const known = [...configFlags.map(({ variable }) => variable), ...Object.keys(otherVariables)];
    const others = ['DATA', 'TEST_SEED', 'SERVICE_HOST', 'SERVICE_PORT_TCP', 'PORT_9100_TCP_ADDR'];
    const names = [...known, ...others.map((name) => `LOREKEEP_${name}`), 'PORT', 'MY_LOREKEEP_PORT'];
    expect(
      unknownVariables({ ...Object.fromEntries(names.map((name) => [name, 'x'])), LOREKEEP_RUNTIME: '' }),
    ).toEqual([]);
  });

  it.each([
    ['LOREKEEP_PRT', 'LOREKEEP_PORT'],
    ['LOREKEEP_CONFG', 'LOREKEEP_CONFIG'],
    ['LOREKEEP_NETWORKACCESS', 'LOREKEEP_NETWORK_ACCESS'],
    ['LOREKEEP_IDLE_SHUTDOWN_TIMOUT', 'LOREKEEP_IDLE_SHUTDOWN_TIMEOUT'],
  ])('that are misspelt are told with the nearest name: %s', (name, nearest) => {
    expect(unknownVariables({ [name]: '1' })).toEqual([
      `${name}: is not a known variable of the environment and has no effect; did you mean "${nearest}"?`,
    ]);
  });

  it('that are near to none are told all the same, and empty ones count as absent', () => {
    const told = unknownVariables({ LOREKEEP_LOG_LEVEL: 'trace', LOREKEEP_EMPTY: '' });
    expect(told).toEqual([
      'LOREKEEP_LOG_LEVEL: is not a known variable of the environment and has no effect',
    ]);
  });

  it.skipIf(process.platform === 'win32')('are told from those in lower case', () => {
    expect(unknownVariables({ lorekeep_port: '1' })[0]).toContain('did you mean "LOREKEEP_PORT"?');
  });
});

describe('LOREKEEP_RUNTIME', () => {
  it('that is unknown is a warning', () => {
    for (const value of ['', 'llama.cpp', 'decoder'])
      expect(unknownVariables({ LOREKEEP_RUNTIME: value })).toEqual([]);
    expect(unknownVariables({ LOREKEEP_RUNTIME: 'Decoder' })).toEqual([
      'LOREKEEP_RUNTIME: "Decoder" is not one of llama.cpp, decoder and has no effect; did you mean "decoder"?',
    ]);
  });
});

describe('LOREKEEP_KERNELS', () => {
  const kernels = { used: 'avx512', available: ['scalar', 'avx2', 'avx512'] };
  const told = (value?: string) => unknownKernels({ LOREKEEP_KERNELS: value }, kernels);

  it('is all right when it names a set that the processor runs, or nothing', () => {
    for (const value of [...kernels.available, '', undefined]) expect(told(value)).toBeUndefined();
  });

  it.each(['neon', 'axv2', 'AVX2', 'avx2 '])(
    'is told with the names that there are when it is %j',
    (value) => {
      expect(told(value)).toContain(
        `LOREKEEP_KERNELS: this processor does not run "${value}", only scalar, avx2, avx512`,
      );
      expect(told(value)).toMatch(/; avx512 is used$/);
    },
  );

  it('is told with the nearest of them, and cut when it is long', () => {
    expect(told('axv2')).toContain('did you mean "avx2"?');
    expect(told('x'.repeat(1000))).toContain(`"${'x'.repeat(64)}", only`);
  });
});
