/** A route of the REST API: enough to serve the path, to describe it in OpenAPI and to list it at `GET /`. */

import { z } from 'zod';
import type { ErrorCode } from '../../base/errors.js';
import type { TextAnswer } from '../../base/http/text-answer.js';
import type { JsonValue } from '../../base/json/json.js';
import type { EndSignal } from '../../base/model/end-signal.js';
import type { Urgency } from '../../base/process/urgency.js';
import { contentTypeOf, type Format } from '../../base/tables/format.js';
import type { ReportServices } from '../../school/reports/engine/report-context.js';
import type { RequestContext } from '../resolvers/request-context.js';
import type { Resolvers } from '../resolvers/resolvers.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A JSON Schema (2020-12), as OpenAPI 3.1 takes it. */
export type Schema = Readonly<Record<string, unknown>>;

/** The schema of a body. */
export function schemaOf(type: z.ZodType): Schema {
  const { $schema: _, ...schema } = z.toJSONSchema(type, { io: 'input' });
  return schema;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly isRequired: boolean;
  readonly description: string;
  readonly schema: Schema;
  readonly example?: unknown;
  /** A condition of `oquery` on the same field serves as well. */
  readonly mayBeInOquery?: true;
  /** The text of a JSON value; a body of parameters has the value itself. */
  readonly isJson?: true;
}

const TEXT: Schema = { type: 'string' };

/** The header for answers in formats without an end mark. */
export const PREFER: Parameter = {
  ...inHeader(
    'Prefer',
    'end-marker: NDJSON ends in the line {"$end":true}, CSV in #end, and Preference-Applied confirms it; ' +
      'a response without the marker is incomplete',
  ),
  example: 'end-marker',
};

/**
 * `record`: one record or a list of them, as JSON. `parameters`: the query parameters of the route, as the
 * members of a JSON object or as form fields. `file`: bytes, alone or in a form. `piece`: bytes of a tus
 * upload.
 */
export interface Body {
  readonly kind: 'record' | 'parameters' | 'file' | 'piece';
  /** A null parameter is refused instead of ignored: without a filter, every record would match. */
  readonly refusesNull?: true;
  /** A hint for a caller whose body has no parameters. */
  readonly otherwise?: string;
  readonly isRequired: boolean;
  readonly description: string;
  readonly schema: Schema;
  readonly example?: unknown;
}

/** The errors of a route that takes a body and answers with JSON. */
export const BODY_ERRORS = ['NOT_ACCEPTABLE', 'TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const;

/** A successful answer. */
export interface AnswerDescription {
  readonly status: number;
  readonly description: string;
  /** Absent: no body. */
  readonly schema?: Schema;
  /** Names of `HEADERS` in `openapi.ts`. */
  readonly headers?: readonly string[];
}

/** The answer 200. */
export function ok(description: string, schema: Schema, ...headers: readonly string[]): AnswerDescription {
  return { status: 200, description, schema, headers };
}

/** A body of JSON that a route cannot do without. */
export function recordBody(description: string, schema: Schema, example: unknown): Body {
  return { kind: 'record', isRequired: true, description, schema, example };
}

/** A body for the parameters of the query. */
export function parametersBody(description: string, more: Partial<Body> = {}): Body {
  return { kind: 'parameters', isRequired: false, description, schema: { type: 'object' }, ...more };
}

export interface RouteDescription {
  /** Unique; the `operationId` of OpenAPI. */
  readonly name: string;
  readonly method: Method;
  /** The path as OpenAPI writes it: `/o/recs/{collection}`. */
  readonly path: string;
  readonly group: 'Records' | 'Imports' | 'Credentials' | 'Files' | 'Reports' | 'Scripts' | 'Service';
  /** The collection, if the route is about a single one; absent: the group describes the subject. */
  readonly tag?: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters: readonly Parameter[];
  readonly body?: Body;
  readonly answers: readonly AnswerDescription[];
  /** Without those of every route: a wrong credential, too many requests, a fault of ours, unavailability. */
  readonly errors: readonly ErrorCode[];
  /** No credential is required. */
  readonly isOpen?: true;
  /** The formats in our order of preference. Absent: JSON. */
  readonly formats?: readonly [Format, ...Format[]];
  /** The media type of an answer that is in none of the formats. `Accept` is not looked at. */
  readonly mediaType?: string;
  /** The answer of an open path depends on the caller. */
  readonly knowsCaller?: true;
  /** Neither authenticated nor counted, and answered during maintenance too. */
  readonly isVital?: true;
}

export interface Route extends RouteDescription {
  /** The resolver methods that answer, e.g. `records.records`; empty for the few routes that need none. */
  readonly resolvers: readonly string[];
  /** Absent: short. `sent` is the query, or the body if there is one. */
  urgencyOf?(sent: Readonly<Record<string, unknown>>): Urgency;
  run(services: RestServices, request: RestRequest): Answer | Promise<Answer>;
  /**
   * Refuses a caller who may not do this at all. Called when the request is malformed: such a caller learns
   * that it is forbidden, not how to correct the request.
   *
   * @throws FORBIDDEN (403)
   */
  assertAllowed?(services: RestServices, head: RequestHead): void;
  /** The parameters, if the query selects a variant with others; `undefined`: those of the route. */
  parametersFor?(query: Readonly<Record<string, unknown>>): readonly Parameter[] | undefined;
}

/** All that REST can reach: the resolvers, and what reports need. It does not include the store. */
export interface RestServices {
  readonly resolvers: Resolvers;
  readonly reports: ReportServices;
}

/** The parts of a request that are known before its parameters and body are read. */
export interface RequestHead extends Pick<RestRequest, 'context' | 'path'> {
  readonly query: Readonly<Record<string, unknown>>;
}

/** A request to a route; its parameters are checked by name, but not yet by value. */
export interface RestRequest {
  readonly context: RequestContext;
  readonly path: Readonly<Record<string, string>>;
  /** The query, and the members of a parameters body. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The body, with `kind: 'record'`. */
  readonly body: JsonValue | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly format: Format;
}

/**
 * Binds a route to the resolver methods that it names, and to no others: what REST can reach is what its
 * routes name.
 *
 *   { ...route, ...via('records', ['record'], (records, request) => records.record(request.context, …)) }
 */
export function via<Name extends keyof Resolvers & string, Method extends keyof Resolvers[Name] & string>(
  name: Name,
  methods: readonly Method[],
  run: (resolver: Pick<Resolvers[Name], Method>, request: RestRequest) => Answer | Promise<Answer>,
): Pick<Route, 'resolvers' | 'run'> {
  return {
    resolvers: methods.map((method) => `${name}.${method}`),
    run: (services, request) => run(services.resolvers[name], request),
  };
}

export function inQuery(
  name: string,
  description: string,
  options: Partial<Omit<Parameter, 'name' | 'in' | 'description'>> = {},
): Parameter {
  return { name, in: 'query', isRequired: false, description, schema: TEXT, ...options };
}

export function inPath(
  name: string,
  description: string,
  options: { readonly schema?: Schema; readonly example?: unknown } = {},
): Parameter {
  return { name, in: 'path', isRequired: true, description, schema: TEXT, ...options };
}

export function inHeader(name: string, description: string): Parameter {
  return { name, in: 'header', isRequired: false, description, schema: TEXT };
}

/** The answer of a route, before `src/gateway/server/answering.ts` writes it to the wire. */
export type Answer = WholeAnswer | StreamAnswer | EmptyAnswer;

/** A header with several values is sent as several lines, as for cookies. */
type AnswerHeaders = Readonly<Record<string, string | string[]>>;

export interface WholeAnswer extends TextAnswer {
  readonly kind: 'text';
  readonly headers?: AnswerHeaders;
  /** The number of records, for the metrics. Absent: not counted. */
  readonly rowCount?: number;
}

interface StreamContent extends AsyncIterable<string | Uint8Array> {
  /** The number of records read so far, for the metrics. Absent: not counted. */
  readonly rowCount?: number;
}

/** Nothing has been read yet: `open` starts the work, and the signal ends it. */
export interface StreamAnswer {
  readonly kind: 'stream';
  readonly mediaType: string;
  readonly headers?: AnswerHeaders;
  open(signal: EndSignal): StreamContent;
  /**
   * How much is read before the first byte is sent. An answer that ends before that is sent in one piece, and
   * does not count as a stream. Absent: the size of an ordinary write.
   */
  readonly gatherBytes?: number;
}

const PRINTED_HERE: ReadonlySet<string> = new Set([contentTypeOf('xlsx'), contentTypeOf('parquet')]);

/** Whether the gateway prints and compresses it row by row; the other formats are printed by PostgreSQL. */
export function isPrintedHere({ mediaType }: StreamAnswer): boolean {
  return PRINTED_HERE.has(mediaType);
}

interface EmptyAnswer {
  readonly kind: 'empty';
  readonly status: 204 | 304;
  readonly headers?: AnswerHeaders;
}

export function jsonAnswer(
  text: string,
  options: { readonly status?: number; readonly headers?: AnswerHeaders } = {},
): WholeAnswer {
  return {
    kind: 'text',
    status: options.status ?? 200,
    mediaType: 'application/json; charset=utf-8',
    text,
    ...(options.headers && { headers: options.headers }),
  };
}
