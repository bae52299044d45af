/** Records as the texts that PostgreSQL prints of them: `record-printer.ts` gives them another shape. */
import { Prisma } from '../../generated/prisma/client.js';

/** The one row of `selectTexts` and `selectText`, as bytes: a line a record; null: there are none. */
export interface RecordTexts {
  /** Their ids as JSON. */
  readonly ids: Buffer | null;
  /** Their visible fields without `_id`, each a JSON object as PostgreSQL prints jsonb. */
  readonly fields: Buffer | null;
}

/**
 * All records of a statement that gives `id` and `fields`, as one row: to join them takes PostgreSQL less
 * than it takes to tell rows apart on the wire. JSON that PostgreSQL prints has no line feed in it.
 */
export function selectTexts(records: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`select string_agg(to_json(page.id)::text, e'\\n') as ids,
      string_agg(page.fields::text, e'\\n') as fields
    from (${records}) page`;
}

/** Goes through the records. What it tells of one is true until the next. */
export class RecordCursor {
  readonly ids: Buffer;
  readonly fields: Buffer;
  /** Where the id of the record stands in `ids`. */
  idStart = -1;
  idEnd = -1;
  /** Where its fields stand in `fields`. */
  start = -1;
  end = -1;

  constructor({ ids, fields }: RecordTexts) {
    this.ids = ids ?? NOTHING;
    this.fields = fields ?? NOTHING;
  }

  /** False: there are no more. */
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
