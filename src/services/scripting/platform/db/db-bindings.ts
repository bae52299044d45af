/**
 * `platform.db` as a script finds it: the eleven functions of the interface document, with its names and
 * parameters in its order.
 *
 * @see interface 1.2
 */

import { z } from 'zod';
import { JsonText } from '../../../../base/scalars/json-text.js';
import type { Files } from '../../../files/files.js';
import { bindFunction, jsonValue, readArguments } from '../arguments.js';
import type { HostBinding, HostCallContext, StreamBinding } from '../host-binding.js';
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
      ({ collection, query, options }, call) => db.getCount(call, collection, query, options),
    ),
    ofFunction(
      'findDistinct',
      { collection: name, key: z.string(), query: anything, options: anything },
      ({ collection, key, ...request }, call) =>
        db.findDistinct(call, collection, key, { query: undefined, ...request }),
    ),
    ofFunction(
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
    ofFunction(
      'create',
      { tableName: name, _data: anything, options: anything },
      ({ tableName, _data, options }, call) => db.create(call, tableName, _data, options),
    ),
    ofFunction(
      'createMultiple',
      { tableName: name, _data: anything, options: anything },
      ({ tableName, _data, options }, call) => db.createMultiple(call, tableName, _data, options),
    ),
    ofFunction('update', { tableName: name, ...UPDATE }, ({ tableName, ...request }, call) =>
      db.update(call, tableName, { options: undefined, query: undefined, ...request }),
    ),
    ofFunction('updateMany', { collection: name, ...UPDATE }, ({ collection, ...request }, call) =>
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
