/**
 * Records into Postgres by COPY, as they are made: memory is bounded by one chunk, and the database holds the
 * maker back.
 *
 * Nothing is validated and no audit entry is written: for records that are known to be right.
 */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { Collection } from '../../base/model/collection.js';
import { keysOf } from '../../base/model/keys-of.js';
import type { DemoRecord } from './demo-record.js';

export interface CopyTarget {
  readonly domainId: string;
  readonly collection: Collection;
  /** IANA name of the domain's time zone: `uniqueTogether` counts its days. */
  readonly timeZone: string;
}

export interface CopyOptions {
  /** It is called a few times a second with the number of records sent since the last call. */
  readonly onSent: (count: number) => void;
  readonly signal: AbortSignal | undefined;
}

const CHUNK_CHARACTERS = 128 * 1024;

/**
 * @throws the error of Postgres, e.g. of a unique index; the transaction of `client` can only be rolled back
 * then
 */
export async function copyRecords(
  client: pg.ClientBase,
  target: CopyTarget,
  records: Iterable<DemoRecord>,
  options: CopyOptions,
): Promise<void> {
  const sink = client.query(
    copyFrom('copy records (domain, collection, id, data, keys, version, created_at, updated_at) from stdin'),
  );
  const source = Readable.from(copyChunks(target, records, options), { objectMode: true, highWaterMark: 2 });
  await pipeline(source, sink, options.signal ? { signal: options.signal } : {});
}

function* copyChunks(
  target: CopyTarget,
  records: Iterable<DemoRecord>,
  options: CopyOptions,
): Iterable<Buffer> {
  let chunk = '';
  let count = 0;
  for (const record of records) {
    chunk += copyLine(target, record);
    count++;
    if (chunk.length < CHUNK_CHARACTERS) continue;
    yield Buffer.from(chunk);
    options.onSent(count);
    chunk = '';
    count = 0;
  }
  if (count === 0) return;
  yield Buffer.from(chunk);
  options.onSent(count);
}

/** A line of COPY's text format: JSON has no raw tab or line feed, so its backslashes alone are escaped. */
function copyLine({ domainId, collection, timeZone }: CopyTarget, record: DemoRecord): string {
  const keys = keysOf(collection, record.data, timeZone);
  const columns = [
    domainId,
    collection.name,
    record.id,
    jsonColumn(record.data),
    keys === undefined ? '\\N' : jsonColumn(keys),
    record.updatedAt === undefined ? '1' : '2',
    record.createdAt,
    record.updatedAt ?? record.createdAt,
  ];
  return `${columns.join('\t')}\n`;
}

function jsonColumn(value: DemoRecord['data']): string {
  const text = JSON.stringify(value);
  return text.includes('\\') ? text.replaceAll('\\', '\\\\') : text;
}
