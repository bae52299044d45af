/**
 * `platform.db` as a script finds it: the eleven functions of the interface document, with its names and
 * parameters in its order.
 *
 * @see interface 1.2
 */

import { StringDecoder } from 'node:string_decoder';
import { z } from 'zod';
import { invalidAt, ServiceError } from '../../../../base/errors.js';
import { JsonText } from '../../../../base/scalars/json-text.js';
import type { Files } from '../../../files/files.js';
import {
  bindFunction,
  type HostBinding,
  type HostCallContext,
  jsonValue,
  readArguments,
  type StreamBinding,
} from '../host-binding.js';
import type { PlatformDb } from './platform-db.js';

export interface DbServices {
  readonly db: PlatformDb;
  readonly files: Pick<Files, 'get' | 'open'>;
}

const name = z.string().min(1);
const anything = jsonValue.optional();

export function createDbBindings(services: DbServices): readonly HostBinding[] {
  const { db } = services;
  return [
    ofFunction(
      'getCount',
      { collection: name, query: anything, options: anything },
      ({ collection, query, options }, call) => db.getCount(call, collection, query, options),
    ),
    ofFunction(
      'findDistinct',
      { collection: name, key: z.string(), query: anything, options: anything },
      ({ collection, key, ...request }, call) =>
        db.findDistinct(call, collection, key, { query: undefined, ...request }),
    ),
    ofChange(
      'findAndModify',
      { collection: name, query: anything, sort: anything, replacement: anything, options: anything },
      ({ collection, query, sort, replacement, options }, call) =>
        db.findAndModify(call, collection, { query, sort, replacement, options }),
    ),
    ofStream(
      'findStream',
      { tableName: name, query: anything, options: anything },
      ({ tableName, query, options }, call) => db.find(call, tableName, query, options),
    ),
    ofStream('agg', { collection: name, agg: anything }, ({ collection, agg }, call) =>
      db.aggregate(call, collection, agg),
    ),
    ofChange(
      'create',
      { tableName: name, _data: anything, options: anything },
      ({ tableName, _data, options }, call) => db.create(call, tableName, _data, options),
    ),
    ofChange(
      'createMultiple',
      { tableName: name, _data: anything, options: anything },
      ({ tableName, _data, options }, call) => db.createMultiple(call, tableName, _data, options),
    ),
    ofChange('update', { tableName: name, ...UPDATE }, ({ tableName, ...request }, call) =>
      db.update(call, tableName, { options: undefined, query: undefined, ...request }),
    ),
    ofChange('updateMany', { collection: name, ...UPDATE }, ({ collection, ...request }, call) =>
      db.updateMany(call, collection, { options: undefined, query: undefined, ...request }),
    ),
    ofFunction('listCollections', { filter: anything }, ({ filter }, call) =>
      db.listCollections(call, filter),
    ),
    createReadFileBinding(services),
  ];
}

const UPDATE = { query: anything, options: anything, options2: anything, options3: anything };

function ofFunction<Shape extends z.ZodRawShape>(
  short: string,
  shape: Shape,
  call: Parameters<typeof bindFunction<Shape>>[2],
) {
  return bindFunction(`db.${short}`, shape, call, { returns: 'promise' });
}

const ofChange: typeof ofFunction = (...sent) => ({ ...ofFunction(...sent), changes: true });

/** A batch is text as printed by Postgres; records are not parsed here. */
function ofStream<Shape extends z.ZodRawShape>(
  short: string,
  shape: Shape,
  open: (given: z.output<z.ZodObject<Shape>>, context: HostCallContext) => AsyncIterable<readonly string[]>,
): StreamBinding {
  const name = `db.${short}`;
  return {
    name,
    kind: 'stream',
    async *open(context, args) {
      for await (const batch of open(readArguments(name, shape, args), context))
        yield batch.map((text) => new JsonText(text));
    },
  };
}

const PARAMETERS = {
  fileId: z.string(),
  res: z.enum(['text', 'lines', 'base64']).default('text'),
  opts: z
    .strictObject({
      /** The first byte. */
      start: z.number().int().min(0).optional(),
      /** The last byte, inclusive. */
      end: z.number().int().min(0).optional(),
    })
    .default({}),
};

const MAX_LINE_LENGTH = 1_000_000;

function createReadFileBinding(services: { readonly files: Pick<Files, 'get' | 'open'> }): StreamBinding {
  return {
    name: 'db.readFile',
    kind: 'stream',
    async *open({ scope, signal, within }, args) {
      const { fileId, res, opts } = readArguments('db.readFile', PARAMETERS, args);
      const file = await services.files.get(scope, fileId, within);
      if (file.size === 0) return;
      const { start = 0, end = file.size - 1 } = opts;
      if (start > end || end >= file.size) {
        const detail =
          `opts: bytes ${start} to ${end} are not in the file "${file.name}", ` + `which has ${file.size}`;
        throw invalidAt(detail, { parameter: 'opts' });
      }
      const { stream } = services.files.open(file, { signal, within, range: { start, end } });
      try {
        for await (const batch of PIECES[res](stream)) if (batch.length > 0) yield batch;
      } finally {
        stream.destroy();
      }
    },
  };
}

type Pieces = (bytes: AsyncIterable<Buffer>) => AsyncIterable<readonly string[]>;

const PIECES: Readonly<Record<'text' | 'lines' | 'base64', Pieces>> = { text, lines, base64 };

async function* text(bytes: AsyncIterable<Buffer>): AsyncGenerator<readonly string[]> {
  const decoder = new StringDecoder('utf8');
  for await (const chunk of bytes) {
    const piece = decoder.write(chunk);
    if (piece !== '') yield [piece];
  }
  const rest = decoder.end();
  if (rest !== '') yield [rest];
}

/**
 * Yields lines without their ends, `\n` or `\r\n`; a rest after the last end is a line unless it is empty.
 */
async function* lines(bytes: AsyncIterable<Buffer>): AsyncGenerator<readonly string[]> {
  let begun = '';
  for await (const [piece = ''] of text(bytes)) {
    const found = (begun + piece).split('\n');
    begun = found.pop() ?? '';
    if (begun.length > MAX_LINE_LENGTH) {
      throw new ServiceError(
        'LIMIT_EXCEEDED',
        `a line is longer than ${MAX_LINE_LENGTH} characters; read it as text`,
      );
    }
    yield found.map((line) => line.replace(/\r$/, ''));
  }
  if (begun !== '') yield [begun];
}

/** Reads multiples of three bytes, so that the concatenated pieces are the base64 of the whole. */
async function* base64(bytes: AsyncIterable<Buffer>): AsyncGenerator<readonly string[]> {
  let rest = Buffer.alloc(0);
  for await (const chunk of bytes) {
    const joined = Buffer.concat([rest, chunk]);
    const length = joined.length - (joined.length % 3);
    rest = joined.subarray(length);
    if (length > 0) yield [joined.toString('base64', 0, length)];
  }
  if (rest.length > 0) yield [rest.toString('base64')];
}
