/**
 * A Postman collection of the REST API, generated from the same routes as `openapi.json`: one folder per tag,
 * one request per operation. Address and credential are variables, so that requests work as soon as `token`
 * is filled in.
 *
 * @see https://schema.getpostman.com/json/collection/v2.1.0/docs/index.html
 */
import type { Parameter, RouteDescription, Schema } from './route.js';
import type { RouteTable } from './routes.js';

const FORMAT = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';

/** `server` is the address of the gateway, without a trailing slash. */
export function describePostman(table: RouteTable, server: string): Schema {
  const folders = new Map<string, Schema[]>();
  for (const row of table.operations) {
    const name = row.tag ?? row.group;
    folders.set(name, [...(folders.get(name) ?? []), describeRequest(row)]);
  }
  return {
    info: {
      name: 'Campus Gateway',
      description: 'Fill in the variable `token`: an access token from POST /auth, or an API key.',
      schema: FORMAT,
    },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{token}}', type: 'string' }] },
    variable: [
      { key: 'server', value: server, type: 'string' },
      { key: 'token', value: '', type: 'string' },
    ],
    item: [...folders].map(([name, item]) => ({ name, item })),
  };
}

function describeRequest(row: RouteDescription): Schema {
  return {
    name: row.summary,
    request: {
      method: row.method,
      description: row.description ?? row.summary,
      ...(row.isOpen && !row.knowsCaller && { auth: { type: 'noauth' } }),
      header: row.parameters.filter(isHeader).map(describeValue),
      url: describeUrl(row),
      ...bodyOf(row),
    },
    response: [],
  };
}

function describeUrl({ path, parameters }: RouteDescription): Schema {
  const steps = path.replaceAll(/\{(\w+)\}/g, ':$1');
  const query = parameters.filter((parameter) => parameter.in === 'query');
  const inPath = parameters.filter((parameter) => parameter.in === 'path');
  return {
    raw: `{{server}}${steps}`,
    host: ['{{server}}'],
    path: steps.slice(1).split('/'),
    ...(query.length > 0 && { query: query.map(describeValue) }),
    ...(inPath.length > 0 && {
      variable: inPath.map(({ name, description, example }) => ({
        key: name,
        value: textOf(example),
        description,
      })),
    }),
  };
}

/** Optional parameters are disabled, except those in the example of a report. */
function describeValue({ name, description, example, isRequired, isInExample = false }: Parameter): Schema {
  const isOn = isRequired || isInExample;
  return { key: name, value: textOf(example), description, ...(!isOn && { disabled: true }) };
}

function isHeader(parameter: Parameter): boolean {
  return parameter.in === 'header';
}

function bodyOf({ body }: RouteDescription): Schema {
  switch (body?.kind) {
    case undefined:
      return {};
    case 'file':
      return { body: { mode: 'formdata', formdata: [{ key: 'file', type: 'file', src: [] }] } };
    default:
      return {
        body: {
          mode: 'raw',
          raw: JSON.stringify(body?.example ?? {}, undefined, 2),
          options: { raw: { language: 'json' } },
        },
      };
  }
}

function textOf(example: unknown): string {
  return example === undefined ? '' : String(example);
}
