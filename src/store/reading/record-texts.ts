/** Records as the texts that PostgreSQL prints; `record-printer.ts` converts them to other shapes. */
import { type Sql, sql } from '../sql.js';

/**
 * The single row of `selectTexts` and `selectText`, as bytes with one line per record; null if there are
 * none.
 */
export interface RecordTexts {
  /** The ids as JSON. */
  readonly ids: Buffer | null;
  /** The visible fields without `_id`, each a JSON object as PostgreSQL prints jsonb. */
  readonly fields: Buffer | null;
}

/**
 * Joins all records of a statement with `id` and `fields` into one row: PostgreSQL does this faster than it
 * sends separate rows. JSON printed by PostgreSQL contains no line feed.
 */
export function selectTexts(records: Sql): Sql {
  return sql`select string_agg(to_json(page.id)::text, e'\\n') as ids,
      string_agg(page.fields::text, e'\\n') as fields
    from (${records}) page`;
}

/** Iterates over the records. Its positions are valid until the next one. */
export class RecordCursor {
  readonly ids: Buffer;
  readonly fields: Buffer;
  /** The start of the record's id in `ids`. */
  idStart = -1;
  idEnd = -1;
  /** The start of its fields in `fields`. */
  start = -1;
  end = -1;

  constructor({ ids, fields }: RecordTexts) {
    this.ids = ids ?? NOTHING;
    this.fields = fields ?? NOTHING;
  }

  /** Moves to the next record; false at the end. */
  next(): boolean {
    const { ids, fields } = this;
    this.idStart = this.idEnd + 1;
    this.start = this.end + 1;
    if (this.idStart >= ids.length) return false;
    this.idEnd = endOfLine(ids, this.idStart);
    this.end = endOfLine(fields, this.start);
    return true;
  }
}

function endOfLine(text: Buffer, start: number): number {
  const end = text.indexOf(LINE_FEED, start);
  return end < 0 ? text.length : end;
}

const NOTHING = Buffer.alloc(0);
const LINE_FEED = '\n'.charCodeAt(0);
