import { describe, expect, test } from 'vitest';
import { read, texts } from './read-file.js';

describe('encodings', () => {
  const encoded = {
    'windows-1251':
      '\xcc\xe0\xff\xea \xef\xee\xf1\xf2\xf0\xee\xe5\xed \xed\xe0 \xf1\xea\xe0\xeb\xe5 \xf3 \xe2\xf5\xee\xe4\xe0.',
    'windows-1252': 'Gr\xfc\xdfe f\xfcr 5 \x80',
    short: 'Ren\xe9',
    shift_jis:
      '\x93\x94\x91\xe4\x82\xcd\x8d`\x82\xcc\x93\xfc\x82\xe8\x8c\xfb\x82\xc9\x82\xa0\x82\xe8\x82\xdc\x82\xb7\x81B',
  };
  const shown = {
    'windows-1251': 'Маяк построен на скале у входа.',
    'windows-1252': 'Grüße für 5 €',
    short: 'René',
    shift_jis: '灯台は港の入り口にあります。',
  };

  test.each(Object.entries(encoded))(
    '%s is told by its letters, in a text and in a table',
    async (name, latin) => {
      const bytes = Buffer.from(latin, 'latin1');
      const expected = shown[name as keyof typeof shown];
      expect(texts(await read('a.txt', bytes))).toEqual([expected]);
      const table = Buffer.concat([Buffer.from('text\n'), bytes, Buffer.from('\n')]);
      expect(texts(await read('a.csv', table))).toEqual([expected]);
    },
  );

  /** Encodes as Node.js decodes; undefined for a text with other characters. */
  function encodedAs(encoding: string, text: string): Buffer | undefined {
    const decoder = new TextDecoder(encoding, { fatal: true });
    const bytes = new Map<string, number[]>();
    const learn = (...given: number[]) => {
      try {
        const character = decoder.decode(Uint8Array.from(given));
        if ([...character].length === 1 && !bytes.has(character)) bytes.set(character, given);
      } catch {} // no character
    };
    for (let lead = 0; lead < 256; lead++) learn(lead);
    if (!/windows|koi8|iso|ibm/.test(encoding))
      for (let lead = 0x81; lead < 0xff; lead++)
        for (let trail = 0x40; trail < 0xff; trail++) learn(lead, trail);
    const all = [...text].map((character) => bytes.get(character));
    return all.every((each) => each !== undefined) ? Buffer.from(all.flat()) : undefined;
  }

  test.each([
    [
      'shift_jis',
      ['灯台です。', 'こんにちは', '東京駅の時刻表', 'ABC株式会社 会議メモ', 'カメラ', '営業時間'],
    ],
    ['euc-jp', ['灯台です。', 'こんにちは', '東京駅の時刻表', 'ABC株式会社 会議メモ', 'カメラ', '営業時間']],
    ['gb18030', ['你好', '灯塔在岛上', '北京市的天气', '会议 10:30 开始', '中文', '我们的家']],
    ['big5', ['你好', '燈塔在島上', '台北市的天氣', '會議 10:30 開始', '中文字', '我們的家']],
    ['euc-kr', ['안녕하세요', '등대는 섬에 있다', '서울의 날씨', '회의는 10:30에 시작', '한국어', '우리 집']],
  ])('%s is told in texts of a few characters', async (encoding, given) => {
    for (const text of given) {
      const bytes = encodedAs(encoding, text) as Buffer;
      expect(texts(await read('short.txt', bytes)), text).toEqual([text]);
      const table = Buffer.concat([Buffer.from('name,text\nx,'), bytes, Buffer.from('\n')]);
      expect(texts(await read('short.csv', table)).join(), text).toContain(text);
    }
  });

  test('short texts of the West, and Cyrillic and Greek ones, are not taken for them', async () => {
    const western = [
      'Café',
      'Ça va?',
      '“Don’t” – it’s',
      'naïve façade',
      'El Niño, ¿sí?',
      'Ångström',
      'GRÜSSE AUS KÖLN',
      'straße',
      'Œuvre d’art',
      '100 €',
      '«Où»',
      'São João',
      'ÄÖÜ äöü ß',
      '„Tschüß“ – 3 ½ °C',
      'æøå ÆØÅ',
    ];
    for (const text of western) {
      const bytes = encodedAs('windows-1252', text);
      if (bytes !== undefined) expect(texts(await read('west.txt', bytes)), text).toEqual([text]);
    }
    const others = {
      'windows-1251': 'Привет, мир. Как дела у вас сегодня?',
      'koi8-r': 'Привет, мир. Как дела у вас сегодня?',
    };
    for (const [encoding, text] of Object.entries(others))
      expect(texts(await read('other.txt', encodedAs(encoding, text) as Buffer)), encoding).toEqual([text]);
  });

  test.each([
    ['windows-1251', 'Маяк светит ночью.'],
    ['koi8-r', 'Маяк светит ночью.'],
    ['ibm866', 'Маяк светит ночью.'],
    ['windows-1253', 'Ο φάρος λάμπει'],
    ['windows-1255', 'המגדלור מאיר בלילה'],
    ['windows-1256', 'تضيء المنارة ليلا'],
    ['windows-874', 'ประภาคารส่องแสง'],
    ['windows-1250', 'Zażółć gęślą jaźń'],
    ['iso-8859-2', 'Zażółć gęślą jaźń'],
  ])('%s is told in a few words', async (encoding, text) => {
    const bytes = encodedAs(encoding, text) as Buffer;
    expect(texts(await read('words.txt', bytes))).toEqual([text]);
    const long = Buffer.concat(Array.from({ length: 200 }, () => [bytes, Buffer.from('\n')]).flat());
    expect(texts(await read('long.txt', long)).join('\n')).toContain(text);
  });

  test.each([
    [
      'Mac Roman',
      {
        '4c65206361668e20657374206665726d8e2e': 'Le café est fermé.',
        '47729fa76520617573204b9a6c6e': 'Grüße aus Köln',
        d2446f6ed574d320d0206974d573: '“Don’t” – it’s',
        '538b6f204a6f8b6f2c206e8b6f208e3f': 'São João, não é?',
        '436f6d6d65206e6f7573206cd561766f6e7320666169742070728e638e64656d6d656e742c206e6f757320616c6c6f6e73':
          'Comme nous l’avons fait précédemment, nous allons',
        '456c204e69966f2c20c073923f': 'El Niño, ¿sí?',
      },
    ],
    [
      'DOS 437',
      {
        '446965204c616d70652068846e6774208162657220646572205481722e': 'Die Lampe hängt über der Tür.',
        '4c65206361668220657374206665726d822e': 'Le café est fermé.',
        dac4c4c4c2c4c4c4bf0ab3206120b3206220b30ac0c4c4c4c1c4c4c4d9: '┌───┬───┐\n│ a │ b │\n└───┴───┘',
      },
    ],
    [
      'DOS 850',
      {
        '53c66f204a6fc66f2c206ec66f20823f': 'São João, não é?',
        '477281e16520617573204b946c6e': 'Grüße aus Köln',
        '539b72656e2073748672207086209b656e2e': 'Søren står på øen.',
        '5365a46f72204ea3a4657a20657374a020617175a12e': 'Señor Núñez está aquí.',
      },
    ],
    [
      'DOS 852',
      {
        '5a61bea288862067a9986ca5206a61abe4': 'Zażółć gęślą jaźń',
        '50fda16c69e720a76c759c6f759f6bec206b85e520a370d86c': 'Příliš žluťoučký kůň úpěl',
      },
    ],
    ['DOS 737', { '8e20ade1a8a6aa20a2e1a3a79ca020ab9e20a4e7aeab98': 'Ο φάρος λάμπει τη νύχτα' }],
    ['DOS 862', { '848e82838c8598208e80899820818c898c84': 'המגדלור מאיר בלילה' }],
    [
      'Mac Cyrillic',
      {
        '8ce0dfea20f1e2e5f2e8f220edeef7fcfe2c20e820df20e5e3ee20e2e8e6f320f120eceef0df2e':
          'Маяк светит ночью, и я его вижу с моря.',
      },
    ],
    ['ISO-8859-5', { bcd0efda20e1d2d5e2d8e220dddee7ecee2e: 'Маяк светит ночью.' }],
    ['KOI8-U', { b7a720cdc1d1cb20d3d7a6d4c9d4d820d5cecfdea62e: 'Її маяк світить уночі.' }],
    [
      'Windows-1254',
      {
        '49fefd6b20676563656c6572692079616e61722c20fe656869722067f672fc6efc722e':
          'Işık geceleri yanar, şehir görünür.',
      },
    ],
    [
      'Windows-1257',
      {
        '496b7669656e616d2069722074696573ee62617320757a20647aee76ee627520756e206272ee76ee62752e':
          'Ikvienam ir tiesības uz dzīvību un brīvību.',
        '4b69656b7669656e617320fe6d6f67757320747572692074656973e620e1206779767962e62e':
          'Kiekvienas žmogus turi teisę į gyvybę.',
      },
    ],
    [
      'Windows-1258, in which tones follow their letters,',
      {
        '4e676ff26e206861d26920f0e36e672073e16e67207375f4ec7420f0ea6d2e': 'Ngọn hải đăng sáng suốt đêm.',
        '54e2ec74206361d2206d6ff269206e67fdf5cc692073696e6820726120f0eacc7520f0fdf5f2632074fdf220646f2e':
          'Tất cả mọi người sinh ra đều được tự do.',
      },
    ],
  ])('%s is told by letters and marks in their usual places', async (_, texts) => {
    for (const [hex, text] of Object.entries(texts))
      expect(await wholeText(Buffer.from(hex, 'hex'))).toBe(text);
  });

  /** Some of these texts have bytes that are letters in East Asian encodings, or marks in Windows-1252. */
  async function wholeText(bytes: Buffer): Promise<string> {
    return (await read('old.txt', bytes)).sections
      .flatMap(({ blocks }) => blocks.map(({ text }) => text))
      .join('\n\n');
  }

  test('UTF-16 without a mark is told in scripts without spaces', async () => {
    for (const text of ['โดยที่ความเข้าใจร่วมกันในสิทธิ', 'Маякночью'])
      for (const bytes of [Buffer.from(text, 'utf16le'), Buffer.from(text, 'utf16le').swap16()])
        expect(await wholeText(bytes)).toBe(text);
  });

  test('GB18030 may have characters of four bytes', async () => {
    const bytes = 'b8dbbfdab5c4b5c6cbfed4dad2b9c0efb7a2b9e2a3acb4acd4e7c9cfb3f6b7a2a1a395328236';
    expect(texts(await read('four.txt', Buffer.from(bytes, 'hex')))).toEqual([
      '港口的灯塔在夜里发光，船早上出发。𠀀',
    ]);
  });

  test('ISO-2022-JP changes by escape sequences; UTF-32 is refused', async () => {
    const japanese = Buffer.from('\x1b$BEtBf$OLk$K8w$j$^$9!#\x1b(B', 'latin1');
    expect(texts(await read('escapes.txt', japanese))).toEqual(['灯台は夜に光ります。']);
    const wide = Buffer.from('\ufeffu\0t\0f\0', 'utf16le');
    await expect(
      read('wide.txt', Buffer.concat([wide.subarray(0, 2), Buffer.alloc(2), wide])),
    ).rejects.toThrow('is UTF-32');
  });

  test('UTF-8 with a byte that is none stays UTF-8, also where it is cut', async () => {
    const text = '灯塔在夜里发光。看守人点亮灯。';
    const damaged = Buffer.concat([Buffer.from(text), Buffer.from([0xff]), Buffer.from(text)]);
    expect(texts(await read('damaged.txt', damaged))).toEqual([`${text}\uFFFD${text}`]);
    const cut = Buffer.from(`text\n${text}\n${text}`).subarray(0, -1);
    expect(texts(await read('cut.csv', cut))[0]).toBe(text);
    expect(texts(await read('cut.txt', cut)).join()).toContain(text);
  });

  test('UTF-16 needs no mark', async () => {
    expect(texts(await read('a.txt', Buffer.from('The lamp burns.', 'utf16le')))).toEqual([
      'The lamp burns.',
    ]);
    const swapped = Buffer.from('The lamp burns.', 'utf16le').swap16();
    expect(texts(await read('a.txt', swapped))).toEqual(['The lamp burns.']);
    const others = [
      'Маяк стоит на острове.',
      '灯塔在岛上。看守人点亮灯。',
      '灯台は島の上にあります。',
      'המגדלור עומד על האי.',
    ];
    for (const text of others)
      for (const bytes of [Buffer.from(text, 'utf16le'), Buffer.from(text, 'utf16le').swap16()]) {
        expect(texts(await read('b.txt', bytes))).toEqual([text]);
        expect(texts(await read('b.html', bytes))).toEqual([text]);
      }
    for (const seed of [7, 13, 29]) {
      const binary = Buffer.from(Array.from({ length: 4000 }, (_, at) => (at * at * seed + at * 31) % 256));
      await expect(read('c.txt', binary)).rejects.toThrow('is a binary file');
    }
  });
});
