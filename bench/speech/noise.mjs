// What is no speech: noise of several colours, hum, rain, traffic, music, and other people's voices.
import { spoken } from './voices.mjs';

/** Box and Muller's normal numbers. */
function normal(random) {
  return Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
}

function white(count, random) {
  return Float32Array.from({ length: count }, () => normal(random));
}

/** Paul Kellet's filter: 3 dB less per octave. */
function pink(count, random) {
  const poles = [0.997, 0.985, 0.95, 0.85, 0.62, 0.25];
  const gains = [0.029591, 0.032534, 0.048056, 0.090579, 0.10899, 0.255784];
  const states = poles.map(() => 0);
  return Float32Array.from({ length: count }, () => {
    const value = normal(random);
    let sum = 0.5 * value;
    for (let i = 0; i < poles.length; i++) {
      states[i] = poles[i] * states[i] + gains[i] * value;
      sum += states[i];
    }
    return sum;
  });
}

function brown(count, random) {
  let state = 0;
  return Float32Array.from({ length: count }, () => {
    state = 0.998 * state + 0.06 * normal(random);
    return state;
  });
}

/** A fan beside a transformer. */
function hum(count, random, rate) {
  const fan = pink(count, random);
  return fan.map((value, i) => {
    const t = i / rate;
    let sum = 0.4 * value;
    for (let k = 1; k <= 8; k++) sum += (0.5 / k) * Math.sin(2 * Math.PI * 50 * k * t + k);
    return sum;
  });
}

/** Noise whose loudness rises and falls, as cars pass by. */
function traffic(count, random, rate) {
  const near = brown(count, random);
  const tyres = pink(count, random);
  const phase = 6 * random.next();
  return near.map((value, i) => {
    const t = i / rate;
    const gain = 0.4 + 0.6 * Math.sin(0.8 * t + phase) ** 2;
    return gain * (value + 0.5 * tyres[i]);
  });
}

/** Chords, a melody and drums of four instruments' harmonics, at 80 to 140 beats a minute. */
function music(count, random, rate) {
  const result = new Float32Array(count);
  const beat = (60 / (80 + 60 * random.next())) * rate;
  const scale = [0, 2, 4, 5, 7, 9, 11, 12];
  const root = 110 * 2 ** (random.below(12) / 12);
  const note = (begin, beats, semitones, gain, brightness) => {
    const hertz = root * 2 ** (semitones / 12);
    const length = Math.min(Math.round(beats * beat), count - begin);
    for (let i = 0; i < length; i++) {
      const t = i / rate;
      const envelope =
        Math.min(1, i / (0.01 * rate)) * Math.exp(-1.5 * t) * Math.min(1, (length - i) / (0.02 * rate));
      let sum = 0;
      for (let k = 1; k <= 6; k++) sum += (brightness ** (k - 1) / k) * Math.sin(2 * Math.PI * k * hertz * t);
      result[begin + i] += gain * envelope * sum;
    }
  };
  for (let n = 0; n * beat < count; n++) {
    const begin = Math.round(n * beat);
    if (n % 4 === 0) {
      const chord = random.below(5);
      for (const third of [0, 2, 4]) note(begin, 4, scale[(chord + third) % 7], 0.25, 0.6);
      note(begin, 4, scale[chord] - 12, 0.5, 0.4);
    }
    if (random.below(3) > 0) note(begin, 1, 12 + random.of(scale), 0.4, 0.3 + 0.6 * random.next());
    const strength = n % 2 === 0 ? 0.5 : 0.25;
    const length = Math.min(0.08 * rate, count - begin);
    for (let i = 0; i < length; i++)
      result[begin + i] += strength * Math.exp(-i / (0.015 * rate)) * normal(random);
  }
  return result;
}

const babbleTexts = [
  ['en-us+m5', 'the meeting that we had on tuesday went on for much longer than anybody thought it would'],
  ['en-gb+f2', 'she told me that the garden needs some water because it has not rained for three weeks'],
  ['en-us+m7', 'there is a train every twenty minutes and the last one leaves a little after midnight'],
  ['de+f4', 'wir haben gestern den ganzen tag auf das paket gewartet und es kam erst heute morgen'],
  ['en-us+f5', 'if you turn left at the corner you will find the shop right behind the old station'],
  ['fr-fr+m3', 'nous avons mange dans un petit restaurant pres de la gare avec toute la famille'],
];

/** Six people who talk at once, all the time. */
function babble(count, random) {
  const result = new Float32Array(count);
  for (const [voice, text] of babbleTexts) {
    const { samples } = spoken({ voice, speed: 150 + random.below(40), text });
    const shift = random.below(samples.length);
    for (let i = 0; i < count; i++) result[i] += samples[(i + shift) % samples.length];
  }
  return result;
}

/** By name: (count, random, rate) => samples of any loudness at 48 kHz. */
export const noises = { white, pink, brown, hum, traffic, music, babble };
