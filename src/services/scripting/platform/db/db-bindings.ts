/**
 * `platform.db` as a script finds it: the eleven functions of the interface document, with its names and
 * parameters in its order.
 *
 * @see interface 1.2
 */

import { z } from 'zod';
import type { JsonValue } from '../../../../base/json/json.js';
import { JsonText } from '../../../../base/scalars/json-text.js';
import type { Files } from '../../../files/files.js';
import { jsonValue, readArguments } from '../arguments.js';
import {
  type FunctionBinding,
  type HostBinding,
  type HostCallContext,
  type StreamBinding,
} from '../host-binding.js';
import type { PlatformDb } from './platform-db.js';
import { createReadFileBinding } from './read-file.js';

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
      (call, { collection, query, options }) => db.getCount(call, collection, query, options),
    ),
    ofFunction(
      'findDistinct',
      { collection: name, key: z.string(), query: anything, options: anything },
      (call, { collection, key, query, options }) =>
        db.findDistinct(call, collection, key, { query, options }),
    ),
    ofFunction(
      'findAndModify',
      { collection: name, query: anything, sort: anything, replacement: anything, options: anything },
      (call, { collection, query, sort, replacement, options }) =>
        db.findAndModify(call, collection, { query, sort, replacement, options }),
    ),
    ofStream(
      'findStream',
      { tableName: name, query: anything, options: anything },
      (call, { tableName, query, options }) => db.find(call, tableName, query, options),
    ),
    ofStream('agg', { collection: name, agg: anything }, (call, { collection, agg }) =>
      db.aggregate(call, collection, agg),
    ),
    ofFunction(
      'create',
      { tableName: name, _data: anything, options: anything },
      (call, { tableName, _data, options }) => db.create(call, tableName, _data, options),
    ),
    ofFunction(
      'createMultiple',
      { tableName: name, _data: anything, options: anything },
      (call, { tableName, _data, options }) => db.createMultiple(call, tableName, _data, options),
    ),
    ofFunction(
      'update',
      { tableName: name, query: anything, options: anything, options2: anything, options3: anything },
      (call, { tableName, ...request }) =>
        db.update(call, tableName, { options: undefined, query: undefined, ...request }),
    ),
    ofFunction(
      'updateMany',
      { collection: name, query: anything, options: anything, options2: anything, options3: anything },
      (call, { collection, ...request }) =>
        db.updateMany(call, collection, { options: undefined, query: undefined, ...request }),
    ),
    ofFunction('listCollections', { filter: anything }, (call, { filter }) =>
      db.listCollections(call, filter),
    ),
    createReadFileBinding(services),
  ];
}

/** `platform.aggregate(collection, pipeline)`: what `db.agg` streams, as one list. @see interface 1.1 */
export function createAggregateBinding({ db }: Pick<DbServices, 'db'>): HostBinding {
  return {
    name: 'aggregate',
    kind: 'function',
    returns: 'promise',
    call: (context, args) => {
      const { collection, pipeline } = readArguments(
        'aggregate',
        { collection: name, pipeline: anything },
        args,
      );
      return db.aggregateAll(context, collection, pipeline);
    },
  };
}

type Parameters<Shape extends z.ZodRawShape> = z.output<z.ZodObject<Shape>>;

function ofFunction<Shape extends z.ZodRawShape>(
  short: string,
  shape: Shape,
  call: (context: HostCallContext, parameters: Parameters<Shape>) => Promise<JsonValue | JsonText>,
): FunctionBinding {
  return {
    name: `db.${short}`,
    kind: 'function',
    returns: 'promise',
    call: (context, args) => call(context, readArguments(`db.${short}`, shape, args)),
  };
}

/** A batch is text as printed by Postgres; records are not parsed here. */
function ofStream<Shape extends z.ZodRawShape>(
  short: string,
  shape: Shape,
  open: (context: HostCallContext, parameters: Parameters<Shape>) => AsyncIterable<readonly string[]>,
): StreamBinding {
  return {
    name: `db.${short}`,
    kind: 'stream',
    open: (context, args) => texts(open(context, readArguments(`db.${short}`, shape, args))),
  };
}

async function* texts(batches: AsyncIterable<readonly string[]>): AsyncGenerator<readonly JsonText[], void> {
  for await (const batch of batches) yield batch.map((text) => new JsonText(text));
}
