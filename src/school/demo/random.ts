/**
 * A seeded source of choices: the same seed and keys give the same choices on every machine. Not for secrets.
 */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  /** Each list of keys is a stream of its own, so that more choices in one place change nothing elsewhere. */
  constructor(seed: number, ...keys: readonly (string | number)[]) {
    const text = [seed, ...keys].join('/');
    this.#a = hashOf(text, 0x9e3779b9);
    this.#b = hashOf(text, 0x243f6a88);
    this.#c = hashOf(text, 0xb7e15162);
    for (let round = 0; round < 8; round++) this.next();
  }

  /** A number in [0, 1), by the generator sfc32. */
  next(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 4294967296;
  }

  isChance(probability: number): boolean {
    return this.next() < probability;
  }

  /** A whole number from `least` to `greatest`, both included. */
  integer(least: number, greatest: number): number {
    return least + Math.floor(this.next() * (greatest - least + 1));
  }

  pick<T>(values: readonly [T, ...T[]]): T {
    return values[Math.floor(this.next() * values.length)] ?? values[0];
  }

  /** One of the names, with a probability proportional to its weight. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name {
    const choices = Object.entries<number>(weights) as [Name, number][];
    let point = this.next() * choices.reduce((sum, [, weight]) => sum + weight, 0);
    const chosen = choices.find(([, weight]) => {
      point -= weight;
      return point < 0;
    });
    return (chosen ?? (choices[0] as [Name, number]))[0];
  }

  /** Roughly normal: the sum of four uniform numbers. */
  normal(mean: number, deviation: number): number {
    return mean + (this.next() + this.next() + this.next() + this.next() - 2) * 1.7320508 * deviation;
  }

  digits(count: number): string {
    let text = '';
    while (text.length < count) text += this.integer(0, 9);
    return text;
  }

  shuffle<T>(values: readonly T[]): T[] {
    return values
      .map((value) => ({ value, place: this.next() }))
      .sort((left, right) => left.place - right.place)
      .map(({ value }) => value);
  }
}

/** FNV-1a with a final mix, 32 bits. */
function hashOf(text: string, basis: number): number {
  let hash = basis | 0;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return hash ^ (hash >>> 13);
}
