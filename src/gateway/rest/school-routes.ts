/** The routes for what a school does with many records at once: promoting students, raising dues. */
import { ServiceError } from '../../base/errors.js';
import { isJsonObject, type JsonValue } from '../../base/json/json.js';
import {
  type PromoteStudentsInput,
  Promotion,
  RollNumbers,
} from '../../school/reports/promotion/promotion.js';
import type { RaiseDuesInput } from '../../school/reports/receipts/due-raising.js';
import { jsonAnswer } from './answer.js';
import { describeAnswer } from './describe-answers.js';
import { allowedTo } from './record-address.js';
import { asRecord, IDEMPOTENCY_KEY, WRITE_ERRORS } from './record-write-routes.js';
import { type Route, type Schema, via } from './route.js';

const TEXT: Schema = { type: 'string' };
const TARGET = {
  toClass: { type: 'string', description: 'The class in the new session.' },
  toSection: { type: 'string', description: 'The section. Default: the section of the student.' },
  leaves: { type: 'boolean', description: 'They have completed the school. Instead of `toClass`.' },
};
const CLASS: Schema = {
  type: 'object',
  required: ['class'],
  properties: { class: TEXT, section: TEXT, ...TARGET },
  additionalProperties: false,
};
const EXCEPTION: Schema = {
  type: 'object',
  required: ['studentId'],
  properties: { studentId: TEXT, ...TARGET },
  additionalProperties: false,
};
const PROMOTION = {
  type: 'object',
  required: ['fromSession', 'classes'],
  properties: {
    fromSession: { type: 'string', description: 'The session they are in, YYYY-YY.' },
    toSession: { type: 'string', description: 'A later session. Default: the next one.' },
    classes: { type: 'array', items: CLASS },
    exceptions: { type: 'array', items: EXCEPTION, description: 'Students who go elsewhere.' },
    rollNumbers: { enum: Object.values(RollNumbers), default: RollNumbers.ALPHABETICAL },
    leftOn: { type: 'string', format: 'date', description: 'Default: the last day of `fromSession`.' },
    dryRun: { type: 'boolean', description: 'Change nothing, and return what would be done.' },
  },
  additionalProperties: false,
};

const COUNT: Schema = { type: 'integer' };

const PROMOTION_ROUTE: Route = {
  name: 'promoteStudents',
  method: 'POST',
  path: '/promotions',
  group: 'Records',
  summary: 'Promote students to the next session',
  description:
    'Moves classes from a session to the next, all students or none, and keeps the place of each in ' +
    '`earlier_stays`. With `dryRun` it changes nothing. `undoChange` takes all of it back.',
  parameters: [IDEMPOTENCY_KEY],
  body: {
    kind: 'record',
    isRequired: true,
    description: 'The classes, and where they go.',
    schema: PROMOTION,
    example: { fromSession: '2026-27', classes: [{ class: '5', toClass: '6' }], dryRun: true },
  },
  answers: [
    {
      status: 200,
      description: 'Every student, with the place before and after.',
      schema: describeAnswer(Promotion),
    },
  ],
  errors: WRITE_ERRORS,
  assertAllowed: allowedTo('update', 'registration'),
  ...via('promotions', ['promote'], async (promotions, request) => {
    const promotion = await promotions.promote(
      request.context,
      toInput<PromoteStudentsInput>(request.body, PROMOTION),
    );
    return jsonAnswer(JSON.stringify(promotion));
  }),
};

const MONEY: Schema = { type: 'string', description: 'An exact amount, e.g. "2850.00".' };
const DUES = {
  type: 'object',
  required: ['month'],
  properties: {
    month: { type: 'string', description: 'The month, YYYY-MM.' },
    class: { type: 'string', description: 'One class. Default: every class.' },
    dryRun: { type: 'boolean', description: 'Change nothing, and return what would be done.' },
  },
  additionalProperties: false,
};

const DUES_ROUTE: Route = {
  name: 'raiseDues',
  method: 'POST',
  path: '/dues',
  group: 'Records',
  summary: 'Raise the dues of a month',
  description:
    'Makes the demands of the fee plan (`fee_plan`) for all students on the roll, all or none. A demand ' +
    'that was made before is not made again. With `dryRun` it changes nothing. `undoChange` takes all of ' +
    'it back.',
  parameters: [IDEMPOTENCY_KEY],
  body: {
    kind: 'record',
    isRequired: true,
    description: 'The month, and the class if it is for one.',
    schema: DUES,
    example: { month: '2026-12', dryRun: true },
  },
  answers: [
    {
      status: 200,
      description: 'Counts and totals of the new demands, by class and fee head too.',
      schema: {
        type: 'object',
        properties: {
          requestId: TEXT,
          dryRun: { type: 'boolean' },
          month: TEXT,
          session: TEXT,
          ...{ students: COUNT, demands: COUNT, existing: COUNT, notPromoted: COUNT },
          ...{ amount: MONEY, concession: MONEY, payable: MONEY },
          heads: {
            type: 'array',
            items: {
              type: 'object',
              properties: {
                ...{ class: TEXT, feeHead: TEXT, students: COUNT, amount: MONEY, concession: MONEY },
              },
            },
          },
        },
      },
    },
  ],
  errors: WRITE_ERRORS,
  assertAllowed: allowedTo('create', 'fee_due'),
  ...via('dues', ['raise'], async (dues, request) =>
    jsonAnswer(
      JSON.stringify(await dues.raise(request.context, toInput<RaiseDuesInput>(request.body, DUES))),
    ),
  ),
};

export const SCHOOL_ROUTES: readonly Route[] = [PROMOTION_ROUTE, DUES_ROUTE];

/** @throws INVALID_VALUE, MALFORMED_REQUEST (400) */
function toInput<Input>(body: JsonValue | undefined, schema: Schema): Input {
  const input = asRecord(body, '');
  assertShape(input, schema, '');
  return input as unknown as Input;
}

/** Checks a value against the part of JSON Schema that the schemas above use. */
function assertShape(value: JsonValue | undefined, schema: Schema, pointer: string): void {
  const { type, required, properties, items, enum: allowed } = schema;
  const isOfType = {
    string: typeof value === 'string',
    boolean: typeof value === 'boolean',
    array: Array.isArray(value),
    object: isJsonObject(value),
  }[String(type)];
  if (Array.isArray(allowed) ? !allowed.includes(value) : isOfType === false)
    throw invalid(
      pointer,
      Array.isArray(allowed) ? `one of ${allowed.join(', ')}` : `a value of type ${type}`,
    );
  if (Array.isArray(value)) {
    for (const [index, element] of value.entries())
      assertShape(element, items as Schema, `${pointer}/${index}`);
  }
  if (!isJsonObject(value)) return;
  const members = properties as Readonly<Record<string, Schema>>;
  for (const name of required as readonly string[]) {
    if ((value[name] ?? null) === null) throw invalid(`${pointer}/${name}`, 'a value');
  }
  for (const [name, member] of Object.entries(value)) assertMember(members, name, member, pointer);
}

function assertMember(
  members: Readonly<Record<string, Schema>>,
  name: string,
  member: JsonValue,
  pointer: string,
): void {
  const schema = Object.hasOwn(members, name) ? members[name] : undefined;
  if (schema === undefined) throw invalid(`${pointer}/${name}`, `one of ${Object.keys(members).join(', ')}`);
  if (member !== null) assertShape(member, schema, `${pointer}/${name}`);
}

function invalid(pointer: string, expected: string): ServiceError {
  const detail = `${pointer}: ${expected} is expected`;
  return new ServiceError('INVALID_VALUE', `${detail}.`, { errors: [{ pointer, detail, expected }] });
}
