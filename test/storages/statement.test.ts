import { describe, expect, it } from 'vitest';
import { halves } from '../../src/storages/memories/long-text.js';
import {
  isSecretOf,
  makeSecret,
  parseSecret,
  secretDigest,
  secretText,
} from '../../src/storages/memories/secret.js';
import { mayBeSame, normalText, statementId } from '../../src/storages/memories/statement.js';
import { random, testSeed } from '../helpers/random.js';

describe('statements', () => {
  it('are the same for the same normal form, kind, speaker and subject', () => {
    const id = (text: string, more: object = {}) =>
      statementId({ text, kind: 'said', speaker: 'user', subject: '', ...more });
    const same = ['I like tea.', 'i  LIKE\ttea', ' I like tea!!', 'I like \uFF54ea…', 'I like tea.\n'];
    expect(new Set(same.map((text) => id(text))).size).toBe(1);
    const others = [
      id('I like tea', { kind: 'decided' }),
      id('I like tea', { speaker: 'agent' }),
      id('I like tea', { subject: 'tea' }),
      id('I like teas'),
      id('C++ is fine'),
      id('C# is fine'),
    ];
    expect(new Set([id('I like tea'), ...others]).size).toBe(7);
    expect(normalText('...')).toBe('...');
    expect(normalText(`Tea${' .'.repeat(500_000)}x`)).toHaveLength(1_000_004);
    expect(normalText(`a${'\u0301\u0323'.repeat(200_000)}`)).not.toBe('');
    const long = Array.from({ length: 300 }, (_, n) => `Ｗｏｒｄ${n}`).join(' ');
    expect(normalText(long)).toBe(long.normalize('NFKC').toLowerCase());
    expect(id('a', { kind: 'said', speaker: 'b"' })).not.toBe(id('"b', { kind: 'said', speaker: 'a' }));
  });

  it('are told apart by other words, their order, names, numbers and negations', () => {
    const differ: [string, string][] = [
      ['The code is 4711.', 'The code is 4712.'],
      ['Alice trusts Bob.', 'Bob trusts Alice.'],
      ['We can go in.', 'We can not go in.'],
      ['We can go in, says Ann.', "We can't go in, says Ann."],
      ['Das geht.', 'Das geht nicht.'],
      ['a kapu nyitva', 'a kapu nem nyitva'],
      ['araba kırmızı', 'araba kırmızı değil'],
      ['το κλειδί ανοίγει', 'το κλειδί δεν ανοίγει'],
      ['我喜欢茶', '我喜欢酒'],
      ['the key is under the left stone', 'the key is under the right stone'],
      ['see you next tuesday at five', 'see you next thursday at five'],
      ['the dog bit the man', 'the man bit the dog'],
    ];
    for (const [one, other] of differ) expect(mayBeSame(one, other), one).toBe(false);
    expect(mayBeSame('My dog is called Rex.', 'My dog is really called Rex')).toBe(true);
    expect(mayBeSame('the shop opens at ten', 'and the shop still opens at ten')).toBe(true);
  });
});

describe('long texts', () => {
  it('are cut at ends of sentences or words, lose nothing but blanks, and split no pair', () => {
    const next = random(testSeed);
    const units = ['a', 'Bee ', 'hive. ', '\n', '👩', '。', 'ü', ' ', 'x'.repeat(40), '!?'];
    for (let round = 0; round < 2000; round++) {
      const length = 1 + Math.floor(next() * 60);
      const text = Array.from({ length }, () => units[Math.floor(next() * units.length)]).join('');
      const parts = 2 + Math.floor(next() * 6);
      const pieces = halves(text, parts);
      expect(pieces.join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, ''));
      for (const piece of pieces) {
        expect(piece.trim(), JSON.stringify(text)).not.toBe('');
        expect(Buffer.from(piece).toString(), JSON.stringify(text)).toBe(piece);
      }
      if (text.trim().length > 3) expect(pieces.length, JSON.stringify(text)).toBeGreaterThan(1);
    }
  });
});

describe('secrets', () => {
  it('have 256 random bits, and are read as they were written', () => {
    const secrets = Array.from({ length: 100 }, makeSecret);
    expect(new Set(secrets.map(({ key }) => key)).size).toBe(100);
    for (const secret of secrets) {
      expect(Buffer.from(secret.key, 'base64url')).toHaveLength(32);
      expect(parseSecret(secretText(secret))).toEqual(secret);
      expect(isSecretOf(secret, secretDigest(secret))).toBe(true);
    }
    const [one, other] = secrets as [(typeof secrets)[0], (typeof secrets)[0]];
    expect(isSecretOf(one, secretDigest(other))).toBe(false);
    for (const digest of [undefined, '', 'zz', secretDigest(one).slice(2), `${secretDigest(one)}00`])
      expect(isSecretOf(one, digest)).toBe(false);
    const text = secretText(one);
    for (const wrong of [
      '',
      text.slice(1),
      `${text}A`,
      text.replace('.', ''),
      text.toUpperCase(),
      ` ${text}`,
    ])
      expect(parseSecret(wrong), wrong).toBeUndefined();
  });
});
