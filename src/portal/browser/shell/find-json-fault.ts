/**
 * Returns the position at which a text stops being JSON, with line and column from 1; the end of a valid
 * text. The messages of browsers differ, and newer ones contain no position.
 */
export function findJsonFault(text: string): { readonly line: number; readonly column: number } {
  const reader = new JsonReader(text);
  if (reader.takesValue()) reader.takes(SPACE);
  const lines = text.slice(0, reader.at).split('\n');
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}

/** The value of a JSON text; `undefined` for a text that is not JSON. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type ObjectOfJson = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is ObjectOfJson {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object of a JSON text; `undefined` for a text that is not a JSON object. */
export function readJsonObject(text: string): ObjectOfJson | undefined {
  const value = readJson(text);
  return isObject(value) ? value : undefined;
}

/** JSON in lines, for people; `undefined` for a text that is not JSON. */
export function indentJson(text: string): string | undefined {
  const value = readJson(text);
  return value === undefined ? undefined : JSON.stringify(value, null, 2);
}

const SPACE = /[ \t\n\r]*/y;
/** JSON allows the control characters after U+007E unescaped. */
const TEXT = /"(?:[^"\\\p{Cc}]|[\u007f-\u009f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/uy;
const OTHER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** Reads as long as the text is JSON. */
class JsonReader {
  readonly #text: string;
  at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  takes(part: RegExp): boolean {
    part.lastIndex = this.at;
    if (!part.test(this.#text)) return false;
    this.at = part.lastIndex;
    return true;
  }

  takesValue(): boolean {
    this.takes(SPACE);
    if (this.takes(/\[/y)) return this.#takesRest(/\]/y, () => this.takesValue());
    if (this.takes(/\{/y)) return this.#takesRest(/\}/y, () => this.#takesMember());
    return this.takes(TEXT) || this.takes(OTHER);
  }

  #takesMember(): boolean {
    this.takes(SPACE);
    if (!this.takes(TEXT)) return false;
    this.takes(SPACE);
    return this.takes(/:/y) && this.takesValue();
  }

  /** Reads the elements after an opening bracket, and the closing one. */
  #takesRest(end: RegExp, takesOne: () => boolean): boolean {
    this.takes(SPACE);
    if (this.takes(end)) return true;
    do {
      if (!takesOne()) return false;
      this.takes(SPACE);
    } while (this.takes(/,/y));
    return this.takes(end);
  }
}
