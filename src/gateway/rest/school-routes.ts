/**
 * The routes for acts on many records at once: promoting students, raising dues, making files for other
 * programs.
 */
import { invalidAt, type ServiceError } from '../../base/errors.js';
import { isJsonObject, type JsonValue } from '../../base/json/json.js';
import { PromoteStudentsInput, Promotion } from '../../school/reports/promotion/promotion.js';
import { type RaiseDuesInput, RaisedDues } from '../../school/reports/receipts/due-raising.js';
import { FORMAT_NAMES } from '../../services/formats/format-mapping.js';
import { RAISE_DUES_ARGUMENTS } from '../resolvers/reports/school-resolver.js';
import { describeAnswer, describeInput } from './describe-answers.js';
import { fileHeaders } from './format-parameters.js';
import { oneOf } from './parameter-reader.js';
import { allowedTo } from './record-address.js';
import { asRecord, IDEMPOTENCY_KEY, WRITE_ERRORS } from './record-write-routes.js';
import { inPath, inQuery, jsonAnswer, ok, type Route, recordBody, type Schema, via } from './route.js';

const PROMOTION = describeInput(PromoteStudentsInput);

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
  body: recordBody('The classes to promote, and their new classes.', PROMOTION, {
    fromSession: '2026-27',
    classes: [{ class: '5', toClass: '6' }],
    dryRun: true,
  }),
  answers: [ok('Every student, with the place before and after.', describeAnswer(Promotion))],
  errors: WRITE_ERRORS,
  assertAllowed: allowedTo('update', 'registration'),
  ...via('school', ['promoteStudents'], async (school, request) => {
    const promotion = toInput<PromoteStudentsInput>(request.body, PROMOTION);
    return jsonAnswer(JSON.stringify(await school.promoteStudents(request.context, { promotion })));
  }),
};

const DUES = describeInput({ description: 'The month, and the class.', members: RAISE_DUES_ARGUMENTS });

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
  body: recordBody('The month, and the class if only one.', DUES, { month: '2026-12', dryRun: true }),
  answers: [
    ok('Counts and totals of the new demands, also by class and by fee head.', describeAnswer(RaisedDues)),
  ],
  errors: WRITE_ERRORS,
  assertAllowed: allowedTo('create', 'fee_due'),
  ...via('school', ['raiseDues'], async (school, request) => {
    const dues = toInput<RaiseDuesInput>(request.body, DUES);
    return jsonAnswer(JSON.stringify(await school.raiseDues(request.context, dues)));
  }),
};

const ZIP = 'application/zip';
const DAY = { type: 'string', format: 'date' };

const exportFormat: Route = {
  name: 'exportFormat',
  method: 'GET',
  path: '/exports/{format}',
  group: 'Records',
  summary: 'Export records as files for another program, in a zip file',
  description:
    'Vouchers for Tally, the student sheet of UDISE+, or a OneRoster bundle, made of the records that the ' +
    'caller may read. For the first two, `<format>-readiness.csv` lists records that lack a required value.',
  parameters: [
    inPath('format', 'the format', { schema: { type: 'string', enum: FORMAT_NAMES }, example: 'tally' }),
    inQuery('from', 'tally: only receipts of this day or later', { schema: DAY, example: '2026-07-01' }),
    inQuery('to', 'tally: only receipts of this day or earlier', { schema: DAY, example: '2026-07-31' }),
    inQuery('since', 'oneroster: only what changed since, an instant or a day'),
  ],
  answers: [{ status: 200, description: 'The zip file.', schema: { type: 'string', format: 'binary' } }],
  errors: ['INVALID_VALUE', 'FORBIDDEN', 'NOT_FOUND', 'LIMIT_EXCEEDED'],
  mediaType: ZIP,
  urgencyOf: () => 'stream',
  ...via('school', ['exportFormat'], async (school, { context, path, parameters }) => {
    const format = oneOf('format', path.format ?? '', FORMAT_NAMES);
    const open = await school.exportFormat(context, format, parameters);
    return { kind: 'stream', mediaType: ZIP, headers: fileHeaders(`${format}.zip`), open };
  }),
};

export const SCHOOL_ROUTES: readonly Route[] = [PROMOTION_ROUTE, DUES_ROUTE, exportFormat];

/** @throws INVALID_VALUE, MALFORMED_REQUEST (400) */
function toInput<Input>(body: JsonValue | undefined, schema: Schema): Input {
  const input = asRecord(body, '');
  assertShape(input, schema, '');
  return input as unknown as Input;
}

/** Checks a value against the part of JSON Schema that these schemas use. */
function assertShape(value: JsonValue, schema: Schema, pointer: string): void {
  const { type, required, properties, items, enum: allowed } = schema;
  const [wanted] = [type].flat();
  const isOfType = {
    string: typeof value === 'string',
    boolean: typeof value === 'boolean',
    array: Array.isArray(value),
    object: isJsonObject(value),
  }[String(wanted)];
  if (!isOfType) throw invalid(pointer, `a value of type ${wanted}`);
  if (Array.isArray(allowed) && !allowed.includes(value))
    throw invalid(pointer, `one of ${allowed.filter((one) => one !== null).join(', ')}`);
  if (Array.isArray(value)) {
    for (const [index, element] of value.entries())
      assertShape(element, items as Schema, `${pointer}/${index}`);
  }
  if (!isJsonObject(value)) return;
  const members = new Map(Object.entries(properties as Readonly<Record<string, Schema>>));
  for (const name of required as readonly string[]) {
    if ((value[name] ?? null) === null) throw invalid(`${pointer}/${name}`, 'a value');
  }
  for (const [name, member] of Object.entries(value)) {
    const declared = members.get(name);
    if (!declared) throw invalid(`${pointer}/${name}`, `one of ${[...members.keys()].join(', ')}`);
    if (member !== null) assertShape(member, declared, `${pointer}/${name}`);
  }
}

function invalid(pointer: string, expected: string): ServiceError {
  const detail = `${pointer}: ${expected} is expected`;
  return invalidAt(`${detail}.`, { pointer, detail, expected });
}
