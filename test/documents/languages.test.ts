import { describe, expect, test } from 'vitest';
import { LanguageCount, languageOf } from '../../src/documents/languages.js';

const texts = {
  English: 'The lamp is lit every night by the keeper, and it is seen from all of the boats in the bay.',
  German: 'Die Lampe wird jede Nacht vom Wärter angezündet, und man sieht sie von allen Booten in der Bucht.',
  French: 'La lampe est allumée chaque nuit par le gardien, et on la voit de tous les bateaux de la baie.',
  Spanish: 'El guardián enciende la lámpara cada noche y se ve desde todos los barcos que están en la bahía.',
  Vietnamese: 'Người gác đèn thắp đèn mỗi đêm và tất cả các con tàu trong vịnh đều có thể nhìn thấy nó.',
  Turkish:
    'Bekçi her gece lambayı yakar ve bu ışık körfezdeki bütün tekneler için çok önemli olarak görülür.',
  Polish:
    'Latarnik zapala lampę każdej nocy i widać ją ze wszystkich łodzi, które są w zatoce, a nie z lądu.',
  Japanese: '灯台守は毎晩ランプを灯し、湾内のすべての船から見えます。',
  Chinese: '守塔人每天晚上点亮灯，海湾里的所有船只都能看到。',
  Korean: '등대지기는 매일 밤 등불을 켜고 만에 있는 모든 배에서 볼 수 있습니다.',
  Thai: 'ผู้ดูแลจุดตะเกียงทุกคืนและเรือทุกลำในอ่าวสามารถมองเห็นได้',
  'a language in Devanagari letters': 'रखवाला हर रात दीपक जलाता है और खाड़ी की सभी नावों से दिखाई देता है।',
  'a language in Arabic letters': 'يضيء الحارس المصباح كل ليلة ويمكن رؤيته من جميع القوارب في الخليج.',
  Greek: 'Ο φύλακας ανάβει τη λάμπα κάθε βράδυ και φαίνεται από όλες τις βάρκες.',
  'a language in Cyrillic letters': 'Смотритель зажигает лампу каждую ночь, и её видно со всех лодок.',
};

describe('the language of a text', () => {
  test.each(Object.entries(texts))('is %s', (language, text) => {
    expect(languageOf(text)).toBe(language);
    expect(languageOf(text.normalize('NFD').toUpperCase())).toBe(language);
  });

  test.each([
    '',
    '42',
    'const lamp = new Lamp(); lamp.light(harbour.keeper, night); return lamp.state === LampState.On;',
    'Anna Berta Carl Dora Emil Fritz Gustav Heinrich Ida Julius Kaufmann Ludwig',
  ])('is not told of %j', (text) => {
    expect(languageOf(text)).toBeUndefined();
  });

  test('is counted by letters', () => {
    const count = new LanguageCount();
    for (const text of [texts.English, texts.English, texts.German, 'x = 1', '']) count.add(text);
    expect(count.shares.map(({ language }) => language)).toEqual(['English', 'German']);
    expect(count.shares.reduce((sum, { share }) => sum + share, 0)).toBeLessThan(1);
    expect(count.shares.reduce((sum, { share }) => sum + share, 0)).toBeGreaterThan(0.9);
    expect(new LanguageCount().shares).toEqual([]);
  });
});
