/** U+0000, and halves of a surrogate pair that stand alone: JSON text can spell them, Postgres cannot hold them. */
const UNSTORABLE = /\0|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/;

/** The offset of the first character no stored text can hold, `undefined` where all can be. */
export function findUnstorable(text: string): number | undefined {
  const position = text.search(UNSTORABLE);
  return position === -1 ? undefined : position;
}
