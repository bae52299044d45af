/** Answers with records: a page, a single piece or a stream, in every format. */
import { buffer } from 'node:stream/consumers';
import { isPreferred } from '../../base/http/is-preferred.js';
import { contentTypeOf, type Format, isTableFormat, type TableFormat } from '../../base/tables/format.js';
import {
  assertFitsSheet,
  contentOf,
  countExported,
  exportRecords,
  MAX_SHEET_RECORDS,
  printRecords,
  type RecordFile,
  readJsonLines,
} from '../../services/exporting/print-records.js';
import { columnsOfRecords, listOfObjects } from '../../services/exporting/record-columns.js';
import type { RecordSet } from '../../store/reading/record-set.js';
import type { RecordsRequest } from '../resolvers/records/record-resolver.js';
import type { ExpandReferences } from './expand-references.js';
import { byteOrderMarkOf, fileHeaders, formatOf, timeZoneOf } from './format-parameters.js';
import { type Answer, type Parameter, PREFER, type RestRequest } from './route.js';

/**
 * A read with a `limit` up to this, and without `stream`, is one page and knows whether more follows;
 * everything else is streamed.
 */
export const MAX_PAGE = 1000;

/**
 * Answers with the records in the requested format. A single page is read at once.
 *
 * @throws INVALID_VALUE (400) for an unknown format; LIMIT_EXCEEDED (400) for more records than an XLSX sheet
 *   holds
 */
export async function answerRecords(
  records: RecordSet,
  wanted: RecordsRequest,
  request: RestRequest,
  expand: ExpandReferences | undefined,
): Promise<Answer> {
  const format = formatOf(request);
  if (!isTableFormat(format)) timeZoneOf(request);
  const isStreamed = request.parameters.stream !== undefined;
  if (!isStreamed && wanted.limit !== undefined && wanted.limit <= MAX_PAGE)
    return await answerPage(records, wanted, request, expand);
  if (isTableFormat(format)) return await answerFile(records, wanted, request, format);
  const mediaType = contentTypeOf(format);
  if (records.isShort && expand === undefined) {
    const { text, count } = await records.printList({ format, signal: request.context.signal });
    return { kind: 'text', status: 200, mediaType, text, rowCount: count };
  }
  return {
    kind: 'stream',
    mediaType,
    open: (signal) =>
      expand === undefined
        ? records.stream(format, signal)
        : contentOf(records.stream('ndjson', signal), (lines) =>
            streamExpanded(readJsonLines(lines), format, expand),
          ),
  };
}

async function* streamExpanded(
  batches: AsyncIterable<readonly string[]>,
  format: 'json' | 'ndjson',
  expand: ExpandReferences,
): AsyncGenerator<string, void> {
  let separator = '[';
  for await (const texts of batches) {
    const expanded = await expand(texts);
    yield format === 'ndjson' ? printTexts(expanded, format) : separator + expanded.join(',');
    separator = ',';
  }
  if (format === 'json') yield separator === '[' ? '[]' : ']';
}

/**
 * Answers with the changes since an instant, and the instant from which to continue.
 *
 * @throws INVALID_VALUE (400) for an unknown format; LIMIT_EXCEEDED (400) for more records than an XLSX sheet
 *   holds
 */
export async function answerChanges(
  records: RecordSet,
  { collection, projection, since }: RecordsRequest & { readonly since: string },
  request: RestRequest,
): Promise<Answer> {
  const format = formatOf(request);
  const table = tableOptions(records, request);
  const { nextSince, stream } = await records.changesSince(since);
  if (format === 'xlsx') await countExported(records, { format, since });
  return {
    kind: 'stream',
    mediaType: contentTypeOf(format),
    headers: {
      ...(isTableFormat(format) && fileHeaders(`${collection}.${format}`)),
      'x-next-since': nextSince,
    },
    open: (signal) => {
      const open = (lines: 'json' | 'ndjson') => stream({ format: lines, signal });
      return exportRecords(records, { format, open, projection, ...table });
    },
  };
}

/** @throws LIMIT_EXCEEDED (400) for more records than a sheet of XLSX holds */
async function answerFile(
  records: RecordSet,
  wanted: RecordsRequest,
  request: RestRequest,
  format: TableFormat,
): Promise<Answer> {
  const file = fileOf(records, wanted, request, format);
  const { limit = Number.POSITIVE_INFINITY, skip = 0 } = wanted;
  if (format === 'xlsx' && limit > MAX_SHEET_RECORDS) assertFitsSheet((await records.count()) - skip);
  return {
    kind: 'stream',
    mediaType: contentTypeOf(format),
    headers: fileHeaders(`${wanted.collection}.${format}`),
    open: (signal) =>
      contentOf(records.stream('ndjson', signal), (lines) => printRecords(file, readJsonLines(lines))),
  };
}

function fileOf(
  records: RecordSet,
  { projection }: RecordsRequest,
  request: RestRequest,
  format: TableFormat,
): RecordFile {
  const options = tableOptions(records, request);
  const { collection, hiddenFields } = records;
  const columns = columnsOfRecords(collection, projection, hiddenFields, options.expanded);
  return { ...options, format, columns };
}

/** @throws INVALID_VALUE (400) */
function tableOptions({ collection, hiddenFields }: RecordSet, request: RestRequest) {
  const { expand } = request.parameters;
  const format = formatOf(request);
  return {
    byteOrderMark: byteOrderMarkOf(request),
    timeZone: timeZoneOf(request),
    expanded: expand && listOfObjects(expand, { collection, hiddenFields, format }),
  };
}

async function answerPage(
  records: RecordSet,
  wanted: RecordsRequest,
  request: RestRequest,
  expand: ExpandReferences = async (texts) => texts,
): Promise<Answer> {
  const format = formatOf(request);
  const page = await records.page();
  const texts = await expand(page.records.map((record) => record.json));
  const cursor = page.hasNextPage ? page.cursors.at(-1) : undefined;
  const headers = {
    ...(isTableFormat(format) && fileHeaders(`${wanted.collection}.${format}`)),
    ...(cursor !== undefined && nextPage(cursor, request.parameters)),
  };
  return {
    kind: 'text',
    status: 200,
    mediaType: contentTypeOf(format),
    text: isTableFormat(format)
      ? await buffer(printRecords(fileOf(records, wanted, request, format), batchesOf(texts)))
      : printTexts(texts, format),
    headers,
  };
}

function printTexts(texts: readonly string[], format: Format): string {
  return format === 'ndjson' ? texts.map((text) => `${text}\n`).join('') : `[${texts.join(',')}]`;
}

async function* batchesOf(texts: readonly string[]): AsyncGenerator<readonly string[], void> {
  yield texts;
}

/** A reference relative to the requested path. */
export function nextPage(cursor: string, parameters: RestRequest['parameters']): Record<string, string> {
  const query = new URLSearchParams({ ...parameters, after: cursor });
  query.delete('skip');
  return { link: `<?${query}>; rel="next"`, 'x-next-cursor': cursor };
}

/** `Prefer: count=exact`: `X-Total-Count` has the number of matching records. Other requests do not count. */
const PREFERENCE = 'count=exact';

export const PREFER_COUNT: Parameter = {
  ...PREFER,
  description: `${PREFER.description}. ${PREFERENCE}: X-Total-Count has the total number of matching records`,
};

export async function withTotalCount(
  answer: Answer,
  records: RecordSet,
  { headers }: Pick<RestRequest, 'headers'>,
): Promise<Answer> {
  if (!isPreferred(headers.prefer, PREFERENCE)) return answer;
  const total = String(await records.count());
  return {
    ...answer,
    headers: { ...answer.headers, 'x-total-count': total, 'preference-applied': PREFERENCE },
  };
}
