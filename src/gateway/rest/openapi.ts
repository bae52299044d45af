/**
 * The REST contract as OpenAPI 3.1, generated from the routes that are served. `schema/openapi.json` is the
 * output of `printOpenapi`, so that every change of the contract shows in review.
 */
import { ERRORS, type ErrorCode } from '../../base/errors.js';
import { MEDIA_TYPES } from '../../base/tables/format.js';
import { FileResult } from '../resolvers/services/file-resolver.js';
import { ImportResult } from '../resolvers/services/import-resolver.js';
import { describeAnswer, schemaRef } from './describe-answers.js';
import { PROBLEM_TYPE_PREFIX } from './problem.js';
import type { AnswerDescription, Body, Parameter, RouteDescription, Schema } from './route.js';
import type { RouteTable } from './routes.js';

/** The errors of every route, in addition to its own. */
const COMMON_ERRORS: readonly ErrorCode[] = [
  'UNAUTHENTICATED',
  'TOO_MANY_REQUESTS',
  'INTERNAL',
  'MAINTENANCE',
  'UNAVAILABLE',
];
const VITAL_ERRORS: readonly ErrorCode[] = ['INTERNAL', 'UNAVAILABLE'];

/** An API key may be limited to some addresses, and is then refused on every path from others. */
function commonErrors({ isVital, isOpen }: RouteDescription): readonly ErrorCode[] {
  if (isVital) return VITAL_ERRORS;
  return isOpen ? COMMON_ERRORS : ['FORBIDDEN', ...COMMON_ERRORS];
}

/** The rate headers, in every answer to a counted request. */
const RATE_HEADERS = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];

const DESCRIPTION = `Records of a school in collections, and the reports over them.

Sign in at POST /auth, then send \`Authorization: Bearer <access token>\` with every request. An API key is
sent the same way, as the password of HTTP Basic, or as \`X-API-Key\`.

Every list of records is streamed. A parameter that a path does not know is refused with 400: otherwise a
filter with a misspelt name would return all records. The one exception is \`_\`, which libraries add
against caches.

Errors are problem details (RFC 9457); \`type\` ends in one of the codes below, \`instance\` is the request
id.

${Object.entries(ERRORS)
  .map(([code, { status, when }]) => `- **${status}** \`${code}\`: ${when}`)
  .join('\n')}
`;

/** The document, as an object. @see https://spec.openapis.org/oas/v3.1.1.html */
export function describeOpenapi(table: RouteTable, version: string): Schema {
  const parameters = shareParameters(table.operations);
  const paths: Record<string, Record<string, unknown>> = {};
  for (const row of table.operations) {
    const operations = paths[row.path] ?? {};
    operations[row.method.toLowerCase()] = describeOperation(row, parameters);
    paths[row.path] = operations;
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Campus Gateway',
      version,
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'The gateway that this description comes from.' }],
    tags: [...GROUP_TAGS, ...table.tags],
    security: CREDENTIALS,
    paths,
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'An access token from POST /auth, or an API key.',
        },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'An API key.' },
      },
      schemas: { ...SCHEMAS, ...table.schemas },
      parameters: parameters.components,
      headers: usedHeaders(table.operations),
      responses: describeErrors(table.operations),
    },
  };
}

/** The text of `schema/openapi.json`. */
export function printOpenapi(table: RouteTable, version: string): string {
  return `${JSON.stringify(describeOpenapi(table, version), undefined, 2)}\n`;
}

interface SharedParameters {
  readonly components: Schema;
  /** The parameter itself, or a `$ref` to it. */
  refer(parameter: Parameter): Schema;
}

/** A parameter used this often becomes a shared component. */
const SHARED_FROM = 4;

/** Different parameters of the same name are numbered, in the order of the routes. */
function shareParameters(operations: readonly RouteDescription[]): SharedParameters {
  const uses = new Map<string, number>();
  for (const parameter of operations.flatMap((row) => row.parameters)) {
    const text = JSON.stringify(describeParameter(parameter));
    uses.set(text, (uses.get(text) ?? 0) + 1);
  }
  const components: Record<string, Schema> = {};
  const refsByText = new Map<string, Schema>();
  for (const [text, count] of uses) {
    if (count < SHARED_FROM) continue;
    const described: Schema = JSON.parse(text);
    const name = String(described.name);
    let key = name;
    for (let number = 2; Object.hasOwn(components, key); number += 1) key = `${name}_${number}`;
    components[key] = described;
    refsByText.set(text, { $ref: `#/components/parameters/${key}` });
  }
  return {
    components,
    refer: (parameter) => {
      const described = describeParameter(parameter);
      return refsByText.get(JSON.stringify(described)) ?? described;
    },
  };
}

function describeOperation(route: RouteDescription, parameters: SharedParameters): Schema {
  const errors = [...new Set([...route.errors, ...commonErrors(route)])];
  const statuses = [...new Set(errors.map(statusOf))].sort((left, right) => left - right);
  return {
    operationId: route.name,
    tags: [route.tag ?? route.group],
    summary: route.summary,
    ...(route.description !== undefined && { description: route.description }),
    security: securityOf(route),
    ...(route.parameters.length > 0 && { parameters: route.parameters.map(parameters.refer) }),
    ...(route.body && { requestBody: describeBody(route.body, route.parameters) }),
    responses: {
      ...Object.fromEntries(route.answers.map((answer) => [answer.status, describeResponse(answer, route)])),
      ...Object.fromEntries(
        statuses.map((status) => [status, { $ref: `#/components/responses/Status${status}` }]),
      ),
    },
    'x-error-codes': errors,
  };
}

/** `undefined`: the default of the whole document. */
function securityOf({ isOpen, knowsCaller }: RouteDescription): readonly Schema[] | undefined {
  if (!isOpen) return undefined;
  return knowsCaller ? [{}, ...CREDENTIALS] : [];
}

/** Any of them is enough. */
const CREDENTIALS = [{ bearer: [] }, { apiKey: [] }];

/**
 * Documentation pages prefill examples, which helps for required parameters and is a nuisance for optional
 * ones.
 */
function describeParameter({ name, isRequired, description, schema, example, in: place }: Parameter): Schema {
  const hint = example === undefined || isRequired ? '' : `. E.g. \`${String(example)}\`.`;
  return {
    name,
    in: place,
    required: isRequired,
    description: hint === '' ? description : description.replace(/\.$/, '') + hint,
    schema,
    ...(isRequired && example !== undefined && { example }),
  };
}

/** The members of a parameters body are the query parameters of its route. */
function describeBody(body: Body, parameters: readonly Parameter[]): Schema {
  const { kind, isRequired, description, schema, example } = body;
  const bytes = { schema: { type: 'string', format: 'binary' } };
  const media = {
    schema: kind === 'parameters' ? parametersSchema(parameters) : schema,
    ...(example !== undefined && { example }),
  };
  const content = {
    file: { 'multipart/form-data': media, '*/*': bytes },
    piece: { 'application/offset+octet-stream': media },
    record: { 'application/json': media },
    parameters: { 'application/json': media, 'application/x-www-form-urlencoded': media },
  }[kind];
  return { required: isRequired, description, content };
}

function parametersSchema(parameters: readonly Parameter[]): Schema {
  const inQuery = parameters.filter((parameter) => parameter.in === 'query');
  return {
    type: 'object',
    properties: Object.fromEntries(
      inQuery.map(({ name, schema, description }) => [name, { ...schema, description }]),
    ),
    additionalProperties: false,
  };
}

function describeResponse(
  answer: AnswerDescription,
  { isVital, formats = ['json'], mediaType }: RouteDescription,
): Schema {
  const types = mediaType === undefined ? formats.map((format) => MEDIA_TYPES[format][0]) : [mediaType];
  return {
    description: answer.description,
    headers: headerRefs([...(isVital ? [] : RATE_HEADERS), ...(answer.headers ?? [])]),
    ...(answer.schema && {
      content: Object.fromEntries(
        types.map((type) => [
          type,
          {
            schema: formats.length === 1 || type === 'application/json' ? answer.schema : { type: 'string' },
          },
        ]),
      ),
    }),
  };
}

/** One response per status that some operation has, listing the codes it may carry. */
function describeErrors(operations: readonly RouteDescription[]): Schema {
  const statuses = new Set(operations.flatMap(statusesOf));
  const codes = Object.keys(ERRORS) as ErrorCode[];
  return Object.fromEntries(
    [...new Set(codes.map(statusOf))]
      .filter((status) => statuses.has(status))
      .map((status) => [
        `Status${status}`,
        {
          description: codes
            .filter((code) => statusOf(code) === status)
            .map((code) => `${code}: ${ERRORS[code].when}`)
            .join('; '),
          headers: headerRefs([...RATE_HEADERS, ...(HEADERS_BY_STATUS[status] ?? [])]),
          content: {
            'application/problem+json': { schema: schemaRef('Problem') },
            'application/json': { schema: schemaRef('Problem') },
          },
        },
      ]),
  );
}

/** The headers of declared answers; the one for a method no path accepts, for example, is left out. */
function usedHeaders(operations: readonly RouteDescription[]): Schema {
  const used = new Set([
    ...['X-Request-Id', ...RATE_HEADERS],
    ...operations.flatMap((row) => row.answers.flatMap((answer) => answer.headers ?? [])),
    ...operations.flatMap(statusesOf).flatMap((status) => HEADERS_BY_STATUS[status] ?? []),
  ]);
  return Object.fromEntries(Object.entries(HEADERS).filter(([name]) => used.has(name)));
}

function statusesOf(route: RouteDescription): readonly number[] {
  return [...route.errors, ...commonErrors(route)].map(statusOf);
}

function statusOf(code: ErrorCode): number {
  return ERRORS[code].status;
}

function headerRefs(names: readonly string[]): Schema {
  return Object.fromEntries(
    ['X-Request-Id', ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}

const HEADERS_BY_STATUS: Readonly<Record<number, readonly string[]>> = {
  401: ['WWW-Authenticate'],
  405: ['Allow'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

const GROUP_TAGS: readonly Schema[] = [
  { name: 'Credentials', description: 'Logging in and out, tokens and API keys.' },
  { name: 'Records', description: 'Records of any collection, and their history.' },
  { name: 'Imports', description: 'Imports of files into a collection.' },
  { name: 'Files', description: 'Files that belong to records, such as photographs and certificates.' },
  { name: 'Reports', description: 'Reports over the records of a school.' },
  { name: 'Scripts', description: 'Scripts of the school, run for the caller.' },
  { name: 'Service', description: 'The service itself: its routes, health and metrics.' },
];

const text = (description: string): Schema => ({ description, schema: { type: 'string' } });
const whole = (description: string): Schema => ({ description, schema: { type: 'integer' } });

const HEADERS: Schema = {
  'X-Request-Id': text('The id of the request, which is also logged; the one that was sent, if it is valid.'),
  ETag: text("The record's version, in quotes."),
  Location: text('The path of the created resource.'),
  Link: text('The next page, `rel="next"`; absent on the last one, and without `limit`.'),
  'X-Next-Cursor': text('The cursor of the next page, for `after`.'),
  'X-Next-Since': text('With `since`: the instant to pass as `since` in the next request.'),
  'Tus-Resumable': text('1.0.0 if the request uses tus.'),
  'Upload-Offset': whole('The number of bytes of an upload that are stored.'),
  'Upload-Expires': text('When an upload is deleted unless another piece arrives.'),
  'Preference-Applied': text('The preferences of Prefer that were applied: end-marker, count=exact.'),
  'X-Total-Count': whole('How many records match, if Prefer has count=exact.'),
  'WWW-Authenticate': text('Bearer.'),
  Allow: text('The methods that the path supports.'),
  'Retry-After': whole('Seconds to wait.'),
  'RateLimit-Limit': whole('Requests a minute of this credential; with 429 the limit that was hit.'),
  'RateLimit-Remaining': whole('Those left of them.'),
  'RateLimit-Reset': whole('Seconds until the count starts again.'),
};

const UUID: Schema = { format: 'uuid' };
const OBJECT_OR_NULL: Schema = { type: ['object', 'null'] };

const SCHEMAS: Schema = {
  Login: {
    type: 'object',
    required: ['access_token', 'token_type', 'expires_in', 'user'],
    properties: {
      access_token: { type: 'string' },
      token_type: { const: 'Bearer' },
      expires_in: { type: 'integer', description: 'Seconds.' },
      refresh_token: { type: 'string', description: 'Absent in exchange for an API key.' },
      user: {
        type: 'object',
        required: ['_id', 'user_name', 'name', 'roles', 'domain'],
        properties: {
          _id: { type: 'string' },
          user_name: { type: 'string' },
          name: { type: 'string' },
          roles: { type: 'array', items: { type: 'string' } },
          domain: { type: 'string' },
        },
      },
    },
  },
  File: describeAnswer(FileResult, {
    id: UUID,
    size: { type: 'integer' },
    mayRemove: undefined,
  }),
  Import: describeAnswer(ImportResult, {
    ...{ id: UUID, fileId: UUID },
    inspection: OBJECT_OR_NULL,
    mapping: OBJECT_OR_NULL,
    scripts: OBJECT_OR_NULL,
    fault: OBJECT_OR_NULL,
  }),
  Problem: {
    type: 'object',
    required: ['type', 'title', 'status', 'detail', 'instance'],
    properties: {
      type: { type: 'string', enum: Object.keys(ERRORS).map((code) => PROBLEM_TYPE_PREFIX + code) },
      title: { type: 'string' },
      status: { type: 'integer' },
      detail: { type: 'string', description: 'The error, its place, and the expected value.' },
      instance: { type: 'string', description: 'The request id.' },
      errors: {
        type: 'array',
        items: {
          type: 'object',
          required: ['detail'],
          properties: {
            detail: { type: 'string' },
            parameter: { type: 'string', description: 'The query parameter or header with the error.' },
            pointer: { type: 'string', description: 'JSON pointer into the body.' },
            position: { type: 'integer', description: 'Offset in the text of a filter, from 0.' },
            expected: { type: 'string' },
            sent: {},
          },
        },
      },
    },
  },
};
