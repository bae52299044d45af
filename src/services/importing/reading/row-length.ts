import type { SourceRow } from './row-source.js';

/**
 * The approximate size of a row: the UTF-16 code units of its texts and names, and a few for each value. It
 * limits batches, so that a thousand large documents are not in memory together.
 */
export function rowLength({ values }: SourceRow): number {
  return lengthOf(values);
}

const LENGTH_OF_VALUE = 8;

function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length + LENGTH_OF_VALUE;
  if (typeof value !== 'object' || value === null) return LENGTH_OF_VALUE;
  let length = LENGTH_OF_VALUE;
  if (Array.isArray(value)) {
    for (const element of value) length += lengthOf(element);
    return length;
  }
  for (const name in value)
    length += name.length + lengthOf((value as Readonly<Record<string, unknown>>)[name]);
  return length;
}
