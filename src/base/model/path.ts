/** The steps from a record to a value, e.g. `['lines', 'fee_head']`. */
export type Path = readonly string[];

/** The path as a JSON pointer into the record. */
export function pointerOf(path: Path): string {
  return path.map((step) => `/${pointerStep(step)}`).join('');
}

/** A name as a step of a JSON pointer. @see RFC 6901, section 3 */
export function pointerStep(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** `lines.fee_head` as its steps. */
export function toPath(written: string): Path {
  return written.split('.');
}
