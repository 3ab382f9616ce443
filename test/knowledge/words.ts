/** The vocabulary of tiny models and of the records that they embed. */
export const words = [
  'honey',
  'bees',
  'dance',
  'glaciers',
  'grind',
  'valleys',
  'sourdough',
  'flour',
  'water',
  'hive',
];
