/** The parameters for the format of an answer, shared by records and reports. */
import { FORMATS, type Format } from '../tables/format.js';
import { invalidParameter, parseFlag } from './parameter-reader.js';
import type { Parameter, RestRequest } from './route.js';

export const FORMAT_PARAMETERS: readonly Parameter[] = [
  {
    name: 'format',
    in: 'query',
    isRequired: false,
    description: `${FORMATS.join(', ')}; wins over Accept`,
    schema: { type: 'string', enum: [...FORMATS] },
  },
  {
    name: 'bom',
    in: 'query',
    isRequired: false,
    description: 'true: CSV begins with a byte order mark, for spreadsheet programs',
    schema: { type: 'boolean' },
  },
];

/** @throws INVALID_VALUE (400) */
export function formatOf({ parameters, format }: Pick<RestRequest, 'parameters' | 'format'>): Format {
  const wanted = parameters.format;
  if (wanted === undefined) return format;
  const known = FORMATS.find((one) => one === wanted);
  if (known) return known;
  throw invalidParameter('format', wanted, `one of ${FORMATS.join(', ')}`);
}

/** @throws INVALID_VALUE (400) */
export function byteOrderMarkOf({
  parameters: { bom },
}: Pick<RestRequest, 'parameters'>): 'with' | 'without' {
  return bom !== undefined && parseFlag('bom', bom) ? 'with' : 'without';
}

/** Headers for an answer to be saved as a file. The name must be ASCII without quotes. */
export function fileHeaders(fileName: string): Readonly<Record<string, string>> {
  return { 'content-disposition': `attachment; filename="${fileName}"` };
}
