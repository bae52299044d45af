/** The route for the files of a format that other programs read. */
import { FORMAT_NAMES } from '../../services/formats/format-mapping.js';
import { fileHeaders } from './format-parameters.js';
import { invalidParameter } from './parameter-reader.js';
import { inPath, inQuery, type Route, via } from './route.js';

const MEDIA_TYPE = 'application/zip';
const DAY = { type: 'string', format: 'date' };

const exportFormat: Route = {
  name: 'exportFormat',
  method: 'GET',
  path: '/exports/{format}',
  group: 'Records',
  summary: 'Records as the files of another program, in a zip file',
  description:
    'Vouchers for Tally, the student sheet of UDISE+, or a OneRoster bundle, of the records that the ' +
    'caller may read. Of the first two, `<format>-readiness.csv` lists who lacks a value that is asked for.',
  parameters: [
    inPath('format', 'the format', { schema: { type: 'string', enum: FORMAT_NAMES }, example: 'tally' }),
    inQuery('from', 'tally: only receipts of this day or later', { schema: DAY, example: '2026-07-01' }),
    inQuery('to', 'tally: only receipts of this day or earlier', { schema: DAY, example: '2026-07-31' }),
    inQuery('since', 'oneroster: only what changed since, an instant or a day'),
  ],
  answers: [{ status: 200, description: 'The zip file.', schema: { type: 'string', format: 'binary' } }],
  errors: ['INVALID_VALUE', 'FORBIDDEN', 'NOT_FOUND', 'LIMIT_EXCEEDED'],
  mediaType: MEDIA_TYPE,
  urgencyOf: () => 'stream',
  ...via('school', ['exportFormat'], async (school, { context, path, parameters }) => {
    const format = FORMAT_NAMES.find((name) => name === path.format);
    if (format === undefined)
      throw invalidParameter('format', path.format ?? '', `one of ${FORMAT_NAMES.join(', ')}`);
    const open = await school.exportFormat(context, format, parameters);
    return { kind: 'stream', mediaType: MEDIA_TYPE, headers: fileHeaders(`${format}.zip`), open };
  }),
};

export const FORMAT_ROUTES: readonly Route[] = [exportFormat];
