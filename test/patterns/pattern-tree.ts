/** A regular expression of JavaScript as a tree, as far as slow texts are derived from it. */

export type PatternNode =
  | { readonly kind: 'sequence'; readonly parts: readonly PatternNode[] }
  | { readonly kind: 'choice'; readonly options: readonly PatternNode[] }
  | { readonly kind: 'repeat'; readonly body: PatternNode; readonly min: number; readonly max: number }
  /** One character: the source of a class, an escape or a literal. */
  | { readonly kind: 'character'; readonly source: string }
  /** What consumes nothing, or repeats an earlier group. */
  | { readonly kind: 'nothing' }
  /** A lookaround, whose body is matched and not consumed. */
  | { readonly kind: 'look'; readonly body: PatternNode };

/** Reads a pattern that the engine accepts. */
export function parsePattern(source: string): PatternNode {
  const reader = new PatternReader(source);
  return reader.choice();
}

const QUANTIFIER = /[*+?]|\{(\d+)(,(\d*))?\}/y;
const ESCAPE = /\\(?:u\{[\da-f]+\}|u[\da-f]{4}|x[\da-f]{2}|c[a-z]|[pP]\{[^}]*\}|k<[^>]*>|[1-9]\d*|[\s\S])/iy;
const GROUP = /\((?:\?(?:[:=!]|<[=!]|<\w+>))?/y;

class PatternReader {
  #at = 0;

  constructor(readonly source: string) {}

  choice(): PatternNode {
    const options = [this.#sequence()];
    while (this.source[this.#at] === '|') {
      this.#at += 1;
      options.push(this.#sequence());
    }
    return options.length === 1 && options[0] ? options[0] : { kind: 'choice', options };
  }

  #sequence(): PatternNode {
    const parts: PatternNode[] = [];
    while (this.#at < this.source.length && !'|)'.includes(this.source[this.#at] ?? '')) {
      const atom = this.#atom();
      parts.push(this.#repeated(atom));
    }
    return { kind: 'sequence', parts };
  }

  #repeated(body: PatternNode): PatternNode {
    const quantifier = this.#take(QUANTIFIER);
    if (quantifier === undefined) return body;
    if (this.source[this.#at] === '?') this.#at += 1;
    const [sign, min, more, max] = quantifier;
    if (sign === '*') return { kind: 'repeat', body, min: 0, max: Number.POSITIVE_INFINITY };
    if (sign === '+') return { kind: 'repeat', body, min: 1, max: Number.POSITIVE_INFINITY };
    if (sign === '?') return { kind: 'repeat', body, min: 0, max: 1 };
    if (more === undefined) return { kind: 'repeat', body, min: Number(min), max: Number(min) };
    return { kind: 'repeat', body, min: Number(min), max: Number(max || Number.POSITIVE_INFINITY) };
  }

  #atom(): PatternNode {
    const character = this.source[this.#at];
    if (character === '(') return this.#group();
    if (character === '[') return { kind: 'character', source: this.#characterClass() };
    if (character === '\\') {
      const [escaped = ''] = this.#take(ESCAPE) ?? [];
      if (/^\\(?:[bBk]|[1-9])/.test(escaped)) return { kind: 'nothing' };
      return { kind: 'character', source: escaped };
    }
    const code = String.fromCodePoint(this.source.codePointAt(this.#at) ?? 0);
    this.#at += code.length;
    return code === '^' || code === '$' ? { kind: 'nothing' } : { kind: 'character', source: code };
  }

  #group(): PatternNode {
    const [opening = '('] = this.#take(GROUP) ?? [];
    const body = this.choice();
    this.#at += 1;
    return /^\(\?<?[=!]/.test(opening) ? { kind: 'look', body } : body;
  }

  #characterClass(): string {
    const start = this.#at;
    do {
      this.#at += this.source[this.#at] === '\\' ? 2 : 1;
    } while (this.source[this.#at] !== ']');
    this.#at += 1;
    return this.source.slice(start, this.#at);
  }

  #take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.source);
    if (!found) return undefined;
    this.#at += found[0].length;
    return found;
  }
}
