/**
 * A mapping assigns each column of a file to a field. It is proposed from the file, corrected by a person,
 * and may be kept by name.
 */
import { z } from 'zod';
import { isExactNumber, type JsonValue } from '../../base/json/json.js';

const MAX_COLUMNS = 2_000;
const ANY_JSON = z.unknown() as z.ZodType<JsonValue>;
const NAME = z.string().min(1).max(500);

const MAX_PARTS = 20;
const MAX_BLANKS = 50;
/** A request has its numbers with their digits, of which these need none that a float does not hold. */
const upToMost = (least: number) =>
  z.preprocess(
    (sent) => (isExactNumber(sent) ? Number(sent.value) : sent),
    z.int().min(least).max(MAX_PARTS),
  );

const PART = z
  .strictObject({
    separator: z.string().max(10).describe('Empty: the parts are where digits and letters meet, as in 10A.'),
    number: upToMost(1),
    of: upToMost(2),
  })
  .refine(({ number, of }) => number <= of, 'a part has a number up to that of all parts')
  .describe('Which part of its cells goes there; the others are mapped by the column again.');

const COLUMN = z.strictObject({
  /** The column of the file; of documents, a member of the first level. */
  column: NAME,
  /** The field, e.g. `address.city`, `_id`, or `student.admission_no`. */
  field: NAME.nullable().describe('null: the column is left out.'),
  part: PART.optional(),
  format: z.string().min(1).max(100).optional().describe('How days and numbers are written.'),
  values: z.record(z.string(), ANY_JSON).optional().describe('Values that replace values of the file.'),
  by: NAME.optional().describe('The field of the target by which a reference is found.'),
  blank: z
    .array(z.string().min(1).max(100))
    .max(MAX_BLANKS)
    .optional()
    .describe('Cells that count as empty, such as "-" and "N/A", in any case.'),
  leftOut: z.literal(true).optional().describe('The column has values and is left out on purpose.'),
  undeclared: z.literal(true).optional().describe('The field is not declared, on purpose.'),
  /** The effect of an empty cell on an existing record. Default: the field stays as it is. */
  empty: z.enum(['leave', 'remove']).optional(),
});

/** A mapping as it is sent and kept. */
export const MAPPING = z.strictObject({
  columns: z.array(COLUMN).max(MAX_COLUMNS),
  fixed: z.record(NAME, ANY_JSON).default({}).describe('Fields that have one value in every record.'),
  /** For documents: what happens to members that no column names. Default: they are kept. */
  others: z.enum(['keep', 'leave out']).optional(),
});

export type ColumnMapping = Readonly<z.output<typeof COLUMN>>;

export interface ImportMapping extends Readonly<Omit<z.output<typeof MAPPING>, 'columns'>> {
  readonly columns: readonly ColumnMapping[];
}
