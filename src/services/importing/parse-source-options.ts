/** What a caller says of a file: its format, encoding, delimiter, sheet and header. */
import { z } from 'zod';
import { ServiceError } from '../../base/errors.js';
import type { JsonValue } from '../../base/json/json.js';
import type { SourceOptions } from './reading/row-source.js';

const FORMATS = ['csv', 'tsv', 'xlsx', 'json', 'ndjson', 'ejson', 'bson'] as const;

const OPTIONS = z.strictObject({
  format: z.enum(FORMATS).optional(),
  encoding: z.string().min(1).max(40).optional(),
  delimiter: z.string().length(1).optional(),
  sheet: z.string().min(1).max(100).optional(),
  header: z.union([z.literal('none'), z.coerce.number().int().min(1).max(1_000_000)]).optional(),
});

/** @throws INVALID_VALUE naming what is wrong and what would be right */
export function parseSourceOptions(sent: JsonValue): SourceOptions {
  const parsed = OPTIONS.safeParse(sent);
  if (parsed.success) {
    const entries = Object.entries(parsed.data).filter(([, value]) => value !== undefined);
    return Object.fromEntries(entries) as SourceOptions;
  }
  const errors = parsed.error.issues.map(({ path, message }) => ({
    parameter: path.join('.') || 'source',
    detail: message,
    expected: `format (${FORMATS.join(', ')}), encoding, delimiter, sheet, header (a row, or none)`,
  }));
  const [first] = errors;
  throw new ServiceError('INVALID_VALUE', `${first?.parameter}: ${first?.detail}`, { errors });
}
