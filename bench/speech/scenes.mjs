// Scenes: utterances of espeak-ng at known times, in silence, noise or music, in a format that a microphone or a file may have.
// Scene n of a set follows from the set's seed and n. The sets have other voices, texts and seeds.
import { Random } from '../reliability/random.mjs';
import { atRate, fromDecibels, loudness, toInt16 } from './audio.mjs';
import { noises } from './noise.mjs';
import { mixRate, spoken } from './voices.mjs';

const voices = {
  tune: ['en-us+m1', 'en-us+f1', 'en-gb', 'de+m2', 'fr-fr+f2', 'es+m4', 'it+f3', 'pl'],
  report: [
    'en-us',
    'en-us+f4',
    'en-gb+m3',
    'en-us+m6',
    'de',
    'de+f3',
    'fr-fr',
    'es+f2',
    'it',
    'nl+m2',
    'sv',
    'pt+f1',
  ],
};

const texts = {
  tune: {
    en: [
      'please bring me the blue book from the kitchen table',
      'what time does the museum open on sunday morning',
      'the keeper lights the lamp at night',
      'stop the music now',
      'my number is four one seven nine two',
    ],
    de: ['bitte mach das licht im wohnzimmer aus', 'wann kommt der bus nach hamburg'],
    fr: ['je voudrais une table pour deux personnes', 'quelle heure est il maintenant'],
    es: ['donde esta la estacion de trenes', 'quiero un cafe con leche por favor'],
    it: ['vorrei sapere il prezzo del biglietto', 'domani andiamo al mare con gli amici'],
    pl: ['prosze podac mi szklanke wody', 'gdzie jest najblizsza apteka'],
  },
  report: {
    en: [
      'how do i get to the lighthouse from the harbour',
      'turn off the lamp in the bedroom',
      'i would like to know more about the storm of last winter',
      'open the second door on the left',
      'tell me the story of the old captain',
      'no that is not what i meant',
      'remember that my sister arrives on friday',
    ],
    de: [
      'wo finde ich den schluessel fuer das boot',
      'erzaehl mir etwas ueber den alten leuchtturm',
      'das wetter wird morgen besser',
    ],
    fr: ['ou se trouve la bibliotheque du village', 'racontez moi une histoire courte'],
    es: ['cuentame algo sobre la historia del faro', 'manana vamos a visitar a mi abuela'],
    it: ['come si arriva alla stazione centrale', 'mi puoi dire che tempo fa domani'],
    nl: ['waar kan ik hier een fiets huren', 'vertel me iets over de oude haven'],
    sv: ['var ligger den gamla fyren', 'vi ses igen i morgon bitti'],
    pt: ['onde fica a praia mais perto daqui', 'gostaria de reservar um quarto'],
  },
};

const seeds = { tune: 101, report: 202 };

/** Backgrounds by name; `speech` ones take part in the numbers that are aimed at, `babble` is apart. */
export const backgrounds = ['silence', 'white', 'pink', 'brown', 'hum', 'traffic', 'music', 'babble'];
export const rates = [8000, 11_025, 16_000, 22_050, 32_000, 44_100, 48_000];

/** The longest pause within an utterance, in ms: longer ones may end a segment. */
const longestPause = 250;

/**
 * @param decibels how far speech is above the background
 * @returns {name, rate, channels, kind, samples, truth: [{beginMs, endMs}], seconds}; samples are interleaved in the scene's format
 */
export function scene(set, n, { background, decibels = 10, utterances = 8 }) {
  const random = new Random(seeds[set] * 1000 + n);
  const lines = Array.from({ length: utterances }, () => utterance(set, random));
  const gaps = [1.0, ...lines.map(() => 0.7 + 1.8 * random.next())];
  const seconds =
    gaps.reduce((sum, gap) => sum + gap, 0) + lines.reduce((sum, line) => sum + line.length / mixRate, 0);
  const mix = new Float32Array(Math.ceil(seconds * mixRate));
  const truth = [];
  let at = gaps[0];
  for (const [i, line] of lines.entries()) {
    mix.set(line, Math.round(at * mixRate));
    const end = at + line.length / mixRate;
    truth.push({ beginMs: at * 1000, endMs: end * 1000 });
    at = end + gaps[i + 1];
  }
  addBackground(mix, background, spokenLoudness, decibels, random);
  return { name: `${set} ${n} ${background}`, truth, seconds, ...asRecorded(mix, random) };
}

/** Noise or music alone, as loud as in a scene, or louder; `mono`: the same at 16 kHz. */
export function soundAlone(set, n, { background, seconds = 20 }) {
  const random = new Random(seeds[set] * 1000 + 500 + n);
  const mix = new Float32Array(seconds * mixRate);
  addBackground(mix, background, spokenLoudness, random.of([0, 10, 20]), random);
  const mono = atRate(mix, mixRate, 16_000);
  return { name: `${set} ${n} ${background} alone`, truth: [], seconds, mono, ...asRecorded(mix, random) };
}

/** Root mean square of an utterance in a scene. */
const spokenLoudness = 0.06;

function utterance(set, random) {
  for (;;) {
    const voice = random.of(voices[set]);
    const text = random.of(texts[set][voice.slice(0, 2)]);
    const { samples, longestPause: pause } = spoken({
      voice,
      speed: 130 + 15 * random.below(5),
      pitch: 35 + 10 * random.below(4),
      text,
    });
    if (pause > longestPause) continue;
    const gain = spokenLoudness / loudness(samples);
    return samples.map((value) => gain * value);
  }
}

function addBackground(mix, background, level, decibels, random) {
  if (background === 'silence') return;
  const noise = noises[background](mix.length, random, mixRate);
  const gain = level / loudness(noise) / fromDecibels(decibels);
  for (let i = 0; i < mix.length; i++) mix[i] += gain * noise[i];
}

/** One rate, channel count and kind of sample of many; one scene of six is so loud that it is clipped. */
function asRecorded(mix, random) {
  const rate = random.of(rates);
  const channels = 1 + random.below(2);
  const kind = random.of(['int16', 'float']);
  const clipped = random.below(6) === 0;
  const mono = atRate(mix, mixRate, rate);
  const gain = clipped ? 6 : 0.3 + random.next();
  const values = new Float32Array(mono.length * channels);
  for (let i = 0; i < values.length; i++)
    values[i] = Math.max(-1, Math.min(1, gain * mono[Math.floor(i / channels)]));
  const samples = kind === 'float' ? values : Int16Array.from(values, toInt16);
  return { rate, channels, kind, clipped, samples };
}
