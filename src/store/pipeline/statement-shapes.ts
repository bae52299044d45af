/**
 * Names for the statements of short reads that scripts repeat, such as a count in a loop: prepared, they are
 * planned once. A name belongs to a text for good, and Postgres keeps each on every connection: so only the
 * first hundred shapes get one.
 */
import { createHash } from 'node:crypto';

const MAX_SHAPES = 100;
const MAX_TEXT_LENGTH = 4_000;
/** Whether an index serves these is a matter of the value, at which a prepared plan does not look. */
const DEPENDS_ON_VALUE = / (?:@\?|@>|~) \$/;

export class StatementShapes {
  readonly #namesByText = new Map<string, string>();

  /** `undefined`: to be run unprepared. */
  nameOf(text: string): string | undefined {
    const known = this.#namesByText.get(text);
    if (known !== undefined) return known;
    if (this.#namesByText.size >= MAX_SHAPES || text.length > MAX_TEXT_LENGTH) return undefined;
    if (DEPENDS_ON_VALUE.test(text)) return undefined;
    const name = `p_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`;
    this.#namesByText.set(text, name);
    return name;
  }
}
