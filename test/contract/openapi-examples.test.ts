/** Every example of openapi.json is sent as it stands there, and what comes back is as the contract says. */

import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { createRouteTable } from '../../src/gateway/rest/routes.js';
import { reports } from '../../src/school/reports/registry.js';
import { useDemoGateway } from './demo-gateway.js';

const gateway = useDemoGateway({ students: 120 });
const { descriptions } = createRouteTable({ reports, version: '1.0.0' });
const document = JSON.parse(await readFile('schema/openapi.json', 'utf8'));

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly example?: unknown;
}
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: unknown }>> };
}

/** A parameter that many have is described once. */
function whole(parameter: Parameter | { readonly $ref: string }): Parameter {
  if (!('$ref' in parameter)) return parameter;
  return document.components.parameters[parameter.$ref.split('/').at(-1) ?? ''];
}

const operations = Object.entries<Record<string, Operation>>(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
);

/** The values of path segments that no example names; the record is made before. */
const SEGMENTS: Readonly<Record<string, string>> = { id: 'example' };

function addressOf(
  path: string,
  { parameters = [] }: Operation,
  more: Readonly<Record<string, string>> = {},
) {
  const query = new URLSearchParams(more);
  let address = path;
  for (const { name, in: place, required, example } of parameters.map(whole)) {
    const value = String(example ?? SEGMENTS[name] ?? '');
    if (place === 'path') address = address.replace(`{${name}}`, encodeURIComponent(value));
    if (place === 'query' && required && example !== undefined) query.set(name, value);
  }
  const text = query.toString();
  return text === '' ? address : `${address}?${text}`;
}

async function send(method: string, address: string, body?: unknown) {
  const answer = await gateway.fetch(address, {
    method,
    as: 'admin',
    // Some addresses are for pages of the gateway itself.
    headers: { origin: gateway.url },
    ...(body !== undefined && {
      body: JSON.stringify(body),
      headers: { origin: gateway.url, 'content-type': 'application/json', accept: 'application/json' },
    }),
  });
  return { status: answer.status, text: await answer.text() };
}

beforeAll(async () => {
  const made = await send('POST', '/o/task', { _id: 'example', name: 'Chairs', amount: 1 });
  expect(made.status).toBe(201);
});

describe('an example of openapi.json', () => {
  const withBody = operations.flatMap(({ path, method, operation }) => {
    const example = operation.requestBody?.content['application/json']?.example;
    // A script of the example's name is for the school to write.
    return example === undefined || path.startsWith('/x/') || path.includes('script')
      ? []
      : [{ path, method, operation, example }];
  });

  it.each(withBody)('of a body is taken by $method $path', async ({ path, method, operation, example }) => {
    const named = path === '/o/' ? { collection: 'task' } : undefined;
    const all = path === '/o/recs/{collection}' && method !== 'POST' ? { allowAll: 'true' } : undefined;
    const { status, text } = await send(method, addressOf(path, operation, named ?? all), example);
    expect([status, text]).toEqual([status < 300 ? status : 200, text]);
  });

  it.each(
    reports.filter(({ routes }) => routes.length > 0).map(({ name, routes }) => [name, routes] as const),
  )('of a required parameter is taken by the report %s', async (_name, routes) => {
    for (const { method, path } of routes) {
      const described = path.replaceAll(/:(\w+)/g, '{$1}');
      const operation = document.paths[described][method.toLowerCase()];
      const { status, text } = await send(method, addressOf(described, operation));
      expect([status, text]).toEqual([200, text]);
    }
  });

  const optional = descriptions
    .filter(({ method, path }) => method === 'GET' && /^\/o\/recs\/(\w+|\{collection\})$/.test(path))
    .flatMap((route) =>
      route.parameters
        .filter(
          ({ in: place, isRequired, example }) => place === 'query' && !isRequired && example !== undefined,
        )
        .map(({ name, example }) => ({ path: route.path, name, example })),
    );

  it.each(optional)('of $name is taken by $path', async ({ path, name, example }) => {
    const address = `${path.replace('{collection}', 'task')}?${new URLSearchParams({ [name]: String(example) })}`;
    const { status, text } = await send('GET', address);
    expect([status, text]).toEqual([200, text]);
  });
});

describe('what a report answers', () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  ajv.addFormat('date', (text) => /^\d{4}-\d{2}-\d{2}$/.test(text));
  ajv.addFormat('date-time', (text) => /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/.test(text));
  ajv.addFormat('uuid', (text) => /^[\da-f-]{36}$/.test(text));
  ajv.addSchema({ $id: 'contract', components: document.components });

  it.each(reports.map((report) => [report.name, report] as const))(
    'is for %s as its schema says',
    async (name, report) => {
      const [student] = JSON.parse((await send('GET', '/o/recs/registration?limit=1')).text);
      // Whom an example is about must be there.
      const present: Readonly<Record<string, string>> = {
        'GV-01042': student.sequence,
        'stu-00042': student._id,
      };
      const sent = new URLSearchParams({ report: name });
      for (const [key, value] of Object.entries(report.example)) {
        sent.set(report.parameters[key]?.restName ?? key, present[String(value)] ?? String(value));
      }
      const { status, text } = await send('GET', `/?${sent}`);
      expect([status, text]).toEqual([200, text]);
      const schema = `${report.field.charAt(0).toUpperCase()}${report.field.slice(1)}Report`;
      const validate = ajv.compile({ $ref: `contract#/components/schemas/${schema}` });
      validate(JSON.parse(text));
      expect(validate.errors ?? []).toEqual([]);
    },
  );

  it.each([
    'task',
    'registration',
    'fee_receipt',
    'fee_concession',
    'attendance',
    'result',
    'class',
    'sms_log',
  ])('and every record of %s is as its schema says', async (collection) => {
    const { text } = await send('GET', `/o/recs/${collection}?limit=200`);
    const records: unknown[] = JSON.parse(text);
    expect(records.length).toBeGreaterThan(0);
    const schema = `${collection
      .split('_')
      .map((word) => word[0]?.toUpperCase() + word.slice(1))
      .join('')}Record`;
    const validate = ajv.compile({ $ref: `contract#/components/schemas/${schema}` });
    for (const record of records) {
      validate(record);
      expect(validate.errors ?? []).toEqual([]);
    }
  });
});
