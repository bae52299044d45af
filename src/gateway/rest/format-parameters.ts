/** The parameters for the format of an answer, shared by records and reports. */

import { FORMATS, type Format } from '../../base/tables/format.js';
import { requireScope } from '../resolvers/request-context.js';
import { invalidParameter, oneOf, readFlag } from './parameter-reader.js';
import { inQuery, type Parameter, type RestRequest } from './route.js';

export const FORMAT_PARAMETERS: readonly Parameter[] = [
  inQuery('format', `${FORMATS.join(', ')}; wins over Accept`, {
    schema: { type: 'string', enum: [...FORMATS] },
  }),
  inQuery('bom', 'true: CSV begins with a byte order mark, for spreadsheet programs', {
    schema: { type: 'boolean' },
  }),
  inQuery(
    'times',
    'CSV and XLSX: instants in UTC (`utc`), or days and times in the zone of the school (`school`). ' +
      'Default: `school` for XLSX and for CSV with bom=true, otherwise `utc`',
    { schema: { type: 'string', enum: ['utc', 'school'] } },
  ),
];

/** @throws INVALID_VALUE (400) */
export function formatOf({ parameters, format }: Pick<RestRequest, 'parameters' | 'format'>): Format {
  return parameters.format === undefined ? format : oneOf('format', parameters.format, FORMATS);
}

/** @throws INVALID_VALUE (400) */
export function byteOrderMarkOf({ parameters }: Pick<RestRequest, 'parameters'>): 'with' | 'without' {
  return readFlag(parameters, 'bom') ? 'with' : 'without';
}

/** The zone of the instants in the table; `undefined` for UTC. @throws INVALID_VALUE (400) */
export function timeZoneOf(
  request: Pick<RestRequest, 'parameters' | 'format' | 'context'>,
): string | undefined {
  const format = formatOf(request);
  const isForPeople = format === 'xlsx' || (format === 'csv' && byteOrderMarkOf(request) === 'with');
  const { times = isForPeople ? 'school' : 'utc' } = request.parameters;
  if (times !== 'utc' && times !== 'school') throw invalidParameter('times', times, 'utc or school');
  if (times === 'utc') return undefined;
  if (format === 'csv' || format === 'xlsx') return requireScope(request.context).domain.timeZone;
  throw invalidParameter(
    'times',
    times,
    `utc: ${format} has instants in UTC; csv and xlsx can be in local time`,
  );
}

/** Headers for an answer to be saved as a file. The name must be ASCII without quotes. */
export function fileHeaders(fileName: string): Readonly<Record<string, string>> {
  return { 'content-disposition': `attachment; filename="${fileName}"` };
}
