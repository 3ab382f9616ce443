/** Passages on different subjects, each with a question that it alone answers, in words that it shares. */
export const corpus = [
  {
    text: 'Honey bees dance in the hive to tell their sisters where flowers bloom.',
    question: 'Why do bees dance?',
  },
  {
    text: 'Glaciers grind valleys into the shape of a U while they flow downhill.',
    question: 'What shape do glaciers give valleys?',
  },
  {
    text: 'A sourdough starter is flour and water in which wild yeast has settled.',
    question: 'What lives in a sourdough starter?',
  },
  {
    text: 'Bronze is an alloy of copper with about one part of tin in ten.',
    question: 'Which alloy is made of copper and tin?',
  },
  {
    text: 'The pendulum of a tall clock needs two seconds to swing there and back.',
    question: 'How long does a pendulum need to swing?',
  },
  {
    text: 'Octopuses taste with the suckers on their arms and change colour at will.',
    question: 'How do octopuses taste?',
  },
  {
    text: 'Paper was first made of mulberry bark, hemp and rags beaten to a pulp.',
    question: 'Was paper made of mulberry bark?',
  },
  {
    text: 'The moon pulls the sea into two bulges, and the tides follow its course.',
    question: 'How does the moon make tides?',
  },
  {
    text: 'Saffron is the dried stigma of a crocus, picked by hand at dawn.',
    question: 'Which part of a crocus is saffron?',
  },
  {
    text: 'Lighthouses used Fresnel lenses, whose rings bend light into one beam.',
    question: 'Which lenses did lighthouses use?',
  },
  {
    text: 'Chess was played in India as chaturanga before it travelled to Persia.',
    question: 'What was chess called in India?',
  },
  {
    text: 'Basalt columns form when thick lava cools slowly and cracks in hexagons.',
    question: 'Why does lava crack into basalt columns?',
  },
] as const;

export const strings: string[] = corpus.map(({ text }) => text);

/** Longest text that the test model takes, in tokens. */
export const contextSize = 64;

export const overlong: string = 'honey '.repeat(contextSize + 10);

/** Numbers per embedding of the test model: enough that random directions do not pass for meaning. */
export const dimension = 512;
