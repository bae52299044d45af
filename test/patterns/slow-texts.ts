/**
 * Texts that are slow for a regular expression if any is: long repetitions of what one of its parts accepts,
 * behind what stands before that part, with an end that it refuses.
 */
import { type PatternNode, parsePattern } from './pattern-tree.js';

/** A text is `before`, then `again` as often as fits, then `after`. */
export interface SlowText {
  readonly before: string;
  readonly again: string;
  readonly after: string;
}

/** Of the characters of a text all that differ for some pattern of ours. */
const ALPHABET = [
  ...Array.from({ length: 127 }, (_, code) => String.fromCharCode(code)),
  ...'\u00a0\u0300\u00e9\u0661\u200b\u2028\u202e\ufeff\uffff\u0939',
];
const MOST_PUMPS = 8;
/** What most patterns refuse. */
const STARTS = ['\u0001', 'a'];
const ENDS = ['', '\u0001', '\n!'];

export function listSlowTexts(source: string, flags: string): SlowText[] {
  const tree = parsePattern(source);
  const characters = new Characters(tree, flags);
  const seeds = new Map<string, readonly [before: string, again: string]>();
  const add = (before: string, again: string) => {
    if (again !== '') seeds.set(`${before}\n${again}`, [before, again]);
  };
  const firsts = characters.distinct;
  for (const one of firsts) {
    add('', one);
    for (const start of STARTS) add(start, one);
  }
  for (const [before, body] of listRepeats(tree, '', characters)) {
    for (const pump of body) {
      add(before, pump);
      add('', before + pump);
      add(before, pump + before);
    }
  }
  for (const one of firsts.slice(0, 8)) for (const other of firsts.slice(0, 8)) add('', one + other);
  return [...seeds.values()].flatMap(([before, again]) => ENDS.map((after) => ({ before, again, after })));
}

/** The characters that a pattern tells apart, one of each kind. */
class Characters {
  readonly distinct: readonly string[];
  readonly #accepted = new Map<string, readonly string[]>();

  constructor(tree: PatternNode, flags: string) {
    const sources = [...new Set(listCharacters(tree))];
    const unicode = flags.replaceAll(/[^iusv]/g, '');
    const tests = sources.map((source) => new RegExp(`^${source === '/' ? '\\/' : source}$`, unicode));
    const byKind = new Map<string, string>();
    const own = sources.filter((source) => [...source].length === 1);
    for (const character of ['a', ' ', ...own, ...ALPHABET]) {
      const kind = `${tests.map((test) => Number(test.test(character))).join('')}${/\w/.test(character)}`;
      if (!byKind.has(kind)) byKind.set(kind, character);
    }
    this.distinct = [...byKind.values()];
    for (const [index, source] of sources.entries())
      this.#accepted.set(
        source,
        this.distinct.filter((character) => tests[index]?.test(character)),
      );
  }

  of(source: string): readonly string[] {
    return this.#accepted.get(source) ?? [];
  }
}

function listCharacters(node: PatternNode): string[] {
  switch (node.kind) {
    case 'character':
      return [node.source];
    case 'sequence':
      return node.parts.flatMap(listCharacters);
    case 'choice':
      return node.options.flatMap(listCharacters);
    case 'repeat':
    case 'look':
      return listCharacters(node.body);
    case 'nothing':
      return [];
  }
}

type Repeat = readonly [before: string, pumps: readonly string[]];

/** Every part that may repeat without end, with a text that leads to it and the texts that it accepts. */
function listRepeats(node: PatternNode, before: string, characters: Characters): Repeat[] {
  switch (node.kind) {
    case 'sequence': {
      const found: Repeat[] = [];
      let [least, most] = [before, before];
      for (const part of node.parts) {
        found.push(...listRepeats(part, least, characters));
        if (most !== least) found.push(...listRepeats(part, most, characters));
        if (part.kind === 'look') continue;
        const samples = samplesOf(part, characters);
        least += samples[0] ?? '';
        most += samples.find((text) => text !== '') ?? '';
      }
      return found;
    }
    case 'choice':
      return node.options.flatMap((option) => listRepeats(option, before, characters));
    case 'look':
      return listRepeats(node.body, before, characters);
    case 'repeat': {
      const inner = listRepeats(node.body, before, characters);
      const isEndless = node.max > 50;
      return isEndless ? [[before, samplesOf(node.body, characters)], ...inner] : inner;
    }
    default:
      return [];
  }
}

/** A few texts that the part accepts, the shortest first. */
function samplesOf(node: PatternNode, characters: Characters): string[] {
  switch (node.kind) {
    case 'character':
      return [...characters.of(node.source)].slice(0, MOST_PUMPS);
    case 'sequence': {
      let texts = [''];
      for (const part of node.parts) {
        if (part.kind === 'look') continue;
        const ends = samplesOf(part, characters);
        if (ends.length === 0) continue;
        const count = Math.min(MOST_PUMPS, Math.max(texts.length, ends.length));
        texts = Array.from(
          { length: count },
          (_, index) => `${texts[index % texts.length]}${ends[index % ends.length]}`,
        );
      }
      return [...new Set(texts)];
    }
    case 'choice':
      return [...new Set(node.options.flatMap((option) => samplesOf(option, characters)))].slice(
        0,
        2 * MOST_PUMPS,
      );
    case 'repeat': {
      const bodies = samplesOf(node.body, characters);
      const least = bodies.map((body) => body.repeat(Math.min(node.min, 100)));
      return [...new Set([...least, ...(node.min === 0 ? bodies : [])])].slice(0, 2 * MOST_PUMPS);
    }
    default:
      return [''];
  }
}
