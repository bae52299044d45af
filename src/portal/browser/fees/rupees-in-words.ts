const BELOW_20 =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen ' +
  'seventeen eighteen nineteen';
const UNITS = BELOW_20.split(' ');
const TENS = 'zero ten twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');

/** The sizes of Indian numbering, the greatest first. */
const SIZES = [
  [10_000_000, 'crore'],
  [100_000, 'lakh'],
  [1_000, 'thousand'],
  [100, 'hundred'],
] as const;

/** A sum in English words, with lakh and crore: `Rupees one lakh five and fifty paise only`. */
export function rupeesInWords(paise: number): string {
  const [rupees, part] = [Math.floor(paise / 100), paise % 100];
  return `Rupees ${inWords(rupees)}${part > 0 ? ` and ${inWords(part)} paise` : ''} only`;
}

function inWords(number: number): string {
  if (number < 20) return UNITS[number] ?? '';
  if (number < 100) {
    const unit = number % 10;
    return `${TENS[Math.floor(number / 10)]}${unit > 0 ? `-${UNITS[unit]}` : ''}`;
  }
  const [size, name] = SIZES.find(([least]) => number >= least) ?? SIZES[3];
  const rest = number % size;
  return `${inWords(Math.floor(number / size))} ${name}${rest > 0 ? ` ${inWords(rest)}` : ''}`;
}
