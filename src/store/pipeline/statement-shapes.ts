/**
 * Names the statements of short reads that scripts repeat, such as a count in a loop. Postgres then prepares
 * and plans each once. A name always stands for the same text, and every connection keeps all of them, so
 * only the first hundred shapes get a name.
 */
import { createHash } from 'node:crypto';

const MAX_SHAPES = 100;
const MAX_TEXT_LENGTH = 4_000;
/** Whether an index serves these depends on the value, which a prepared plan does not take into account. */
const DEPENDS_ON_VALUE = / (?:@\?|@>|~) \$/;

export class StatementShapes {
  readonly #namesByText = new Map<string, string>();

  /** `undefined`: the statement runs unprepared. */
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
