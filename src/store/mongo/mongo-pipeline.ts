/**
 * An aggregation pipeline as a plain value: what `platform.db.agg` and `platform.aggregate` are sent.
 *
 *   pipeline : [ { "$stage": … } … ]     each stage takes the documents of the one before; STAGES lists them
 *
 * Stages that are short for others are read as these (`$sortByCount` is a `$group` and a `$sort`).
 */

import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.js';
import { tooManySent } from '../../base/languages/sent-place.js';
import { compareJson } from '../../base/model/compare-json.js';
import type { Expression } from '../../base/model/expression.js';
import type { Filter } from '../../base/model/filter.js';
import type { Path } from '../../base/model/path.js';
import type { SortKey } from '../../base/model/record-query.js';
import { didYouMean } from '../../base/text/did-you-mean.js';
import {
  MONGO_LIMITS,
  type MongoPlace,
  malformedMongo,
  mongoPathAt,
  type SentValue,
  startMongoPlace,
  withinMongo,
} from './mongo-place.js';
import {
  type FieldTree,
  type FieldValue,
  fieldValuesAt,
  type Projection,
  parseMongoExpression,
  parseMongoProjection,
  parseMongoSort,
  treeOf,
} from './mongo-projection.js';
import { parseMongoQuery } from './mongo-query.js';

export type Stage =
  | { readonly kind: 'match'; readonly filter: Filter }
  | { readonly kind: 'project'; readonly projection: Projection }
  | { readonly kind: 'set'; readonly members: readonly FieldValue<Expression>[] }
  | { readonly kind: 'unset'; readonly fields: FieldTree }
  | { readonly kind: 'group'; readonly key: Expression; readonly members: readonly Accumulation[] }
  | { readonly kind: 'sort'; readonly keys: readonly SortKey[] }
  | { readonly kind: 'limit' | 'skip' | 'sample'; readonly count: number }
  | UnwindStage
  | LookupStage
  | { readonly kind: 'count'; readonly field: string }
  | {
      readonly kind: 'facet';
      readonly facets: readonly { readonly name: string; readonly stages: readonly Stage[] }[];
    }
  | BucketStage
  | { readonly kind: 'replaceRoot'; readonly root: Expression };

interface Accumulation {
  readonly name: string;
  readonly accumulator: string;
  readonly operand: Expression;
}

export interface UnwindStage {
  readonly kind: 'unwind';
  readonly path: Path;
  readonly indexField: string | undefined;
  /** Documents without an element are kept. */
  readonly keepsEmpty: boolean;
}

export interface LookupStage {
  readonly kind: 'lookup';
  readonly collection: string;
  readonly fields: { readonly local: Path; readonly foreign: Path } | undefined;
  readonly variables: readonly { readonly name: string; readonly value: Expression }[];
  readonly stages: readonly Stage[];
  readonly as: Path;
}

export interface BucketStage {
  readonly kind: 'bucket';
  readonly key: Expression;
  readonly boundaries: readonly (string | number)[];
  readonly default: JsonValue | undefined;
  readonly members: readonly Accumulation[];
}

type ParseStage = (operand: JsonValue, place: MongoPlace) => Stage | readonly Stage[];

const STAGES: Readonly<Record<string, ParseStage>> = {
  $match: (operand, place) => ({ kind: 'match', filter: parseMongoQuery(operand, place) }),
  $project: (operand, place) => ({ kind: 'project', projection: parseMongoProjection(operand, place) }),
  $addFields: parseSet,
  $set: parseSet,
  $unset: (operand, place) => {
    const names = Array.isArray(operand) ? operand : [operand];
    if (names.length === 0) throw malformedMongo(place, 'a field, or a list of fields', operand);
    const fields = names.map((name: JsonValue) => ({ path: mongoPathAt(textAt(name, place), place) }));
    return { kind: 'unset', fields: treeOf(fields, place) };
  },
  $group: parseGroup,
  $sort: (operand, place) => ({ kind: 'sort', keys: parseMongoSort(operand, place) }),
  $limit: (operand, place) => ({ kind: 'limit', count: countAt(operand, place, 1) }),
  $skip: (operand, place) => ({ kind: 'skip', count: countAt(operand, place, 0) }),
  $sample: (operand, place) => {
    const { size } = objectAt(operand, place, ['size']);
    return { kind: 'sample', count: countAt(size, withinMongo(place, 'size'), 1) };
  },
  $unwind: parseUnwind,
  $lookup: parseLookup,
  $count: (operand, place) => ({ kind: 'count', field: fieldAt(operand, place) }),
  $facet: parseFacet,
  $bucket: parseBucket,
  $sortByCount: (operand, place) => [
    { kind: 'group', key: parseMongoExpression(operand, place), members: [COUNTED] },
    { kind: 'sort', keys: [{ path: ['count'], direction: 'descending' }] },
  ],
  $replaceRoot: (operand, place) => {
    const { newRoot } = objectAt(operand, place, ['newRoot']);
    return { kind: 'replaceRoot', root: expressionAt(newRoot, withinMongo(place, 'newRoot')) };
  },
  $replaceWith: (operand, place) => ({ kind: 'replaceRoot', root: expressionAt(operand, place) }),
};

/** All stages, in the order of the documentation. */
export const STAGE_NAMES: readonly string[] = Object.keys(STAGES);

/**
 * Reads a pipeline.
 *
 * @throws MALFORMED_FILTER (400) with a JSON pointer and what would be right there; LIMIT_EXCEEDED
 */
export function parseMongoPipeline(
  pipeline: JsonValue | undefined,
  place: MongoPlace = startMongoPlace('pipeline'),
): readonly Stage[] {
  if (!Array.isArray(pipeline)) throw malformedMongo(place, 'a list of stages', pipeline);
  if (pipeline.length > MONGO_LIMITS.maxStages) throw tooManySent(place, MONGO_LIMITS.maxStages, 'stages');
  return pipeline.flatMap((written: JsonValue, index) => {
    const inner = withinMongo(place, String(index));
    inner.enter();
    const [name, ...more] = isJsonObject(written) ? Object.keys(written) : [];
    if (!isJsonObject(written) || name === undefined || more.length > 0) {
      throw malformedMongo(inner, `an object of one stage (${STAGE_NAMES.join(', ')})`, written);
    }
    return parseStage({ name, operand: written[name] ?? null }, withinMongo(inner, name));
  });
}

/** A single stage by its name; several if it abbreviates them. @throws as `parsePipeline` does */
export function parseStage(
  { name, operand }: { readonly name: string; readonly operand: JsonValue },
  place: MongoPlace,
): readonly Stage[] {
  const parse = Object.hasOwn(STAGES, name) ? STAGES[name] : undefined;
  if (parse === undefined) {
    throw malformedMongo(place, `a stage (${STAGE_NAMES.join(', ')})`, name, didYouMean(name, STAGE_NAMES));
  }
  return [parse(operand, place)].flat();
}

function parseSet(operand: JsonValue, place: MongoPlace): Stage {
  if (!isJsonObject(operand) || Object.keys(operand).length === 0) {
    throw malformedMongo(place, 'an object of fields and expressions', operand);
  }
  const members = fieldValuesAt(operand, place, parseMongoExpression);
  treeOf(members, place);
  return { kind: 'set', members };
}

function parseGroup(operand: JsonValue, place: MongoPlace): Stage {
  if (!isJsonObject(operand) || operand._id === undefined) {
    throw malformedMongo(place, 'an object with an expression _id (null: one group of all)', operand);
  }
  const { _id: id, ...rest } = operand;
  return {
    kind: 'group',
    key: parseMongoExpression(id, withinMongo(place, '_id')),
    members: parseAccumulations(rest, place),
  };
}

function parseAccumulations(members: JsonObject, place: MongoPlace): readonly Accumulation[] {
  return Object.entries(members).map(([name, written]) => {
    const inner = withinMongo(place, name);
    const [accumulator, ...more] = isJsonObject(written) ? Object.keys(written) : [];
    if (!isJsonObject(written) || accumulator?.startsWith('$') !== true || more.length > 0) {
      throw malformedMongo(inner, 'one accumulator, such as {"$sum": "$amount"}', written);
    }
    if (name.includes('.') || name.startsWith('$'))
      throw malformedMongo(inner, 'a name without dots and $', name);
    const at = withinMongo(inner, accumulator);
    return { name, accumulator, operand: parseMongoExpression(written[accumulator] ?? null, at) };
  });
}

const COUNTED: Accumulation = {
  name: 'count',
  accumulator: '$sum',
  operand: { kind: 'literal', value: 1 },
};

function parseUnwind(operand: JsonValue, place: MongoPlace): Stage {
  const written: JsonObject =
    typeof operand === 'string' ? { path: operand } : objectAt(operand, place, ['path']);
  const path = textAt(written.path, place);
  if (!path.startsWith('$')) throw malformedMongo(place, 'a path such as "$lines"', path);
  const index = written.includeArrayIndex;
  return {
    kind: 'unwind',
    path: mongoPathAt(path.slice(1), place),
    indexField:
      index === undefined || index === null
        ? undefined
        : fieldAt(index, withinMongo(place, 'includeArrayIndex')),
    keepsEmpty: written.preserveNullAndEmptyArrays === true,
  };
}

const LOOKUP_MEMBERS = ['from', 'localField', 'foreignField', 'let', 'pipeline', 'as'];

function parseLookup(operand: JsonValue, place: MongoPlace): Stage {
  const written = objectAt(operand, place, ['from', 'as']);
  const strange = Object.keys(written).find((name) => !LOOKUP_MEMBERS.includes(name));
  if (strange !== undefined)
    throw malformedMongo(withinMongo(place, strange), LOOKUP_MEMBERS.join(', '), strange);
  const { localField, foreignField, let: variables, pipeline } = written;
  if ((localField === undefined) !== (foreignField === undefined)) {
    throw malformedMongo(place, 'localField and foreignField, both or none', operand);
  }
  if (localField === undefined && pipeline === undefined) {
    throw malformedMongo(place, 'localField and foreignField, or a pipeline', operand);
  }
  const fields =
    localField === undefined
      ? undefined
      : {
          local: mongoPathAt(textAt(localField, place), withinMongo(place, 'localField')),
          foreign: mongoPathAt(textAt(foreignField, place), withinMongo(place, 'foreignField')),
        };
  if (variables !== undefined && !isJsonObject(variables)) {
    throw malformedMongo(withinMongo(place, 'let'), 'an object of names and expressions', variables);
  }
  return {
    kind: 'lookup',
    collection: textAt(written.from, withinMongo(place, 'from')),
    fields,
    variables: Object.entries(variables ?? {}).map(([name, value]) => ({
      name,
      value: parseMongoExpression(value, withinMongo(withinMongo(place, 'let'), name)),
    })),
    stages: pipeline === undefined ? [] : parseMongoPipeline(pipeline, withinMongo(place, 'pipeline')),
    as: mongoPathAt(textAt(written.as, withinMongo(place, 'as')), withinMongo(place, 'as')),
  };
}

function parseFacet(operand: JsonValue, place: MongoPlace): Stage {
  if (!isJsonObject(operand) || Object.keys(operand).length === 0) {
    throw malformedMongo(place, 'an object of names and pipelines', operand);
  }
  const facets = Object.entries(operand).map(([name, pipeline]) => {
    const inner = withinMongo(place, name);
    const stages = parseMongoPipeline(pipeline, inner);
    if (stages.some(({ kind }) => kind === 'facet'))
      throw malformedMongo(inner, 'no $facet inside a $facet', pipeline);
    return { name: fieldAt(name, inner), stages };
  });
  return { kind: 'facet', facets };
}

function parseBucket(operand: JsonValue, place: MongoPlace): Stage {
  const written = objectAt(operand, place, ['groupBy', 'boundaries']);
  const at = withinMongo(place, 'boundaries');
  const boundaries = Array.isArray(written.boundaries) ? written.boundaries : [];
  const values = boundaries.filter(
    (one): one is string | number => typeof one === 'string' || typeof one === 'number',
  );
  const isOrdered = values.every((value, index) => {
    const next = values[index + 1];
    return next === undefined || (typeof next === typeof value && value < next);
  });
  if (values.length < 2 || values.length !== boundaries.length || !isOrdered) {
    throw malformedMongo(
      at,
      'at least 2 numbers, or 2 texts, each greater than the one before',
      written.boundaries,
    );
  }
  const [least, greatest, other] = [values[0], values.at(-1), written.default];
  if (typeof other === typeof least && isBetween(other, least, greatest))
    throw malformedMongo(withinMongo(place, 'default'), 'a value outside the boundaries', other);
  const output = written.output ?? { count: { $sum: 1 } };
  if (!isJsonObject(output))
    throw malformedMongo(withinMongo(place, 'output'), 'an object of accumulators', output);
  return {
    kind: 'bucket',
    key: expressionAt(written.groupBy, withinMongo(place, 'groupBy')),
    boundaries: values,
    default: written.default,
    members: parseAccumulations(output, withinMongo(place, 'output')),
  };
}

function isBetween(value: SentValue, least: SentValue, greatest: SentValue): boolean {
  return compareJson(value ?? null, least ?? null) >= 0 && compareJson(value ?? null, greatest ?? null) < 0;
}

function expressionAt(value: JsonValue | undefined, place: MongoPlace): Expression {
  if (value === undefined) throw malformedMongo(place, 'an expression', value);
  return parseMongoExpression(value, place);
}

function objectAt(operand: JsonValue, place: MongoPlace, required: readonly string[]): JsonObject {
  if (isJsonObject(operand) && required.every((name) => operand[name] !== undefined)) return operand;
  throw malformedMongo(place, `an object with ${required.join(' and ')}`, operand);
}

function textAt(value: JsonValue | undefined, place: MongoPlace): string {
  if (typeof value === 'string' && value !== '') return value;
  throw malformedMongo(place, 'a text', value);
}

/** A name at the top of a document. */
function fieldAt(value: JsonValue | undefined, place: MongoPlace): string {
  const name = textAt(value, place);
  if (name.includes('.') || name.startsWith('$'))
    throw malformedMongo(place, 'a name without dots and $', name);
  return name;
}

function countAt(value: JsonValue | undefined, place: MongoPlace, least: number): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least) return value;
  throw malformedMongo(place, `a whole number from ${least} on`, value);
}
