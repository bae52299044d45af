import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { ERRORS } from '../../../src/base/errors.js';
import { VERSION } from '../../../src/base/process/version.js';
import { readCollections } from '../../../src/gateway/graphql/print-schema.js';
import { COLLECTION_READS } from '../../../src/gateway/rest/collection-parameters.js';
import {
  changesSchemaName,
  newRecordSchemaName,
  recordSchemaName,
} from '../../../src/gateway/rest/describe-records.js';
import { describeOpenapi, printOpenapi } from '../../../src/gateway/rest/openapi.js';
import type { RouteDescription } from '../../../src/gateway/rest/route.js';
import { createRouteTable } from '../../../src/gateway/rest/routes.js';
import { reports } from '../../../src/school/reports/registry.js';
import { wholeCollection } from '../../../src/store/access/access.js';

const table = createRouteTable({ reports, version: '1.0.0' });
const text = printOpenapi(table, '1.0.0');

describe('openapi.json', () => {
  it('is valid OpenAPI 3.1', async () => {
    const validator = new Validator();
    expect(await validator.validate(JSON.parse(text))).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
    expect(() => validator.resolveRefs()).not.toThrow();
  });

  it('describes every row of the table, by a name of its own', () => {
    const paths = JSON.parse(text).paths;
    for (const route of table.descriptions) {
      expect(paths[route.path][route.method.toLowerCase()].operationId).toBe(route.name);
    }
    const names = table.descriptions.map((route) => route.name);
    expect(new Set(names).size).toBe(names.length);
  });

  it('declares every segment in braces as a parameter, and none else', () => {
    for (const route of table.descriptions) {
      const inPath = [...route.path.matchAll(/\{([\w.]+)\}/g)].map(([, name]) => name);
      const declared = route.parameters
        .filter((parameter) => parameter.in === 'path')
        .map(({ name }) => name);
      expect(declared.sort()).toEqual(inPath.sort());
    }
  });

  it('has no literal path in the place of a collection, but those of its documented reads', () => {
    const own = new Set(COLLECTION_READS.map(({ collection }) => `/o/recs/${collection}`));
    const isParameter = (part: string) => part.startsWith('{');
    const shadows = (one: RouteDescription, other: RouteDescription) => {
      const [parts, others] = [one, other].map(({ path }) => path.split('/')) as [string[], string[]];
      const pairs = parts.map((part, index) => [part, others[index] ?? ''] as const);
      const isSame = pairs.every(([part, wild]) => part === wild || isParameter(part) || isParameter(wild));
      const isLiteral = pairs.some(([part, wild]) => /^[^{]/.test(part) && isParameter(wild));
      return one.method === other.method && parts.length === others.length && isSame && isLiteral;
    };
    const shadowing = table.descriptions.filter(
      (one) => !own.has(one.path) && table.descriptions.some((other) => shadows(one, other)),
    );
    expect(shadowing.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
  });

  it('points to nothing that is not there', () => {
    const document = JSON.parse(text);
    for (const [, pointer = ''] of text.matchAll(/"\$ref": "#\/([^"]+)"/g)) {
      const target = pointer.split('/').reduce((value, step) => value?.[step], document);
      expect([pointer, target]).toEqual([pointer, expect.anything()]);
    }
  });

  it('shows every code of the catalog', () => {
    const { info } = describeOpenapi(table, '1.0.0');
    for (const code of Object.keys(ERRORS)) expect(JSON.stringify(info)).toContain(code);
  });
});

describe('openapi.json of the declared collections', () => {
  it('is what the file says, valid, with a schema a collection and a report', async () => {
    const collections = (await readCollections('schema/collections')).map(wholeCollection);
    const whole = createRouteTable({ reports, version: VERSION, collections });
    const document = JSON.parse(printOpenapi(whole, VERSION));
    expect(`${JSON.stringify(document, undefined, 2)}\n`).toBe(await readFile('schema/openapi.json', 'utf8'));
    expect(await new Validator().validate(document)).toEqual({ valid: true });
    const { schemas } = document.components;
    expect(schemas.FeeReceiptRecord.properties).toMatchObject({
      receipt_no: { type: 'string' },
      student: { $ref: '#/components/schemas/Reference', 'x-collections': ['registration'] },
      payment_type: { type: 'string', enum: ['cash', 'cheque', 'card', 'neft'] },
      lines: { type: 'array' },
      total: { type: 'number' },
    });
    expect(schemas.RegistrationRecord.properties.left_on).toMatchObject({
      type: ['string', 'null'],
      format: 'date',
    });
    expect(schemas.NewTaskRecord).toMatchObject({
      required: ['name'],
      properties: { name: { type: 'string' } },
    });
    expect(schemas.TaskRecord.required).toEqual(['_id']);
    expect(schemas.TaskRecordChanges.required).toBeUndefined();
    expect(schemas.FeeDefaulter.properties).toMatchObject({
      balance: { $ref: '#/components/schemas/Money' },
      oldestDueDate: { type: 'string', format: 'date' },
      lastReceiptDate: { type: ['string', 'null'], format: 'date' },
      breakdown: { type: 'array', items: { $ref: '#/components/schemas/FeeDefaulterItem' } },
    });
    for (const { name, field } of reports) {
      const report = schemas[`${field.charAt(0).toUpperCase()}${field.slice(1)}Report`];
      expect(report.properties.report).toEqual({ const: name });
    }
    const list = document.paths['/o/recs/attendance'].get.responses[200].content['application/json'].schema;
    expect(JSON.stringify(list)).toContain('#/components/schemas/AttendanceRecord');
  });

  it('points to nothing that is not there', async () => {
    const document = JSON.parse(await readFile('schema/openapi.json', 'utf8'));
    for (const [, name = ''] of JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      expect([name, document.components.schemas[name]]).toEqual([name, expect.anything()]);
    }
  });
});

describe('the paths of a collection', () => {
  it('are in openapi.json with its own schemas, and are answered by the general rows', async () => {
    const { paths, tags } = JSON.parse(await readFile('schema/openapi.json', 'utf8'));
    const operations = [
      paths['/o/recs/fee_due'].get,
      paths['/o/recs/fee_due'].post,
      paths['/o/fee_due'].post,
      paths['/o/recs/fee_due/{id}'].get,
      paths['/o/recs/fee_due/{id}'].patch,
      paths['/o/recs/fee_due/{id}'].put,
      paths['/o/recs/fee_due/{id}'].delete,
    ];
    expect(operations.map(({ operationId, tags }) => [operationId, tags])).toEqual([
      ['list_fee_due', ['fee_due']],
      ['query_fee_due', ['fee_due']],
      ['create_fee_due', ['fee_due']],
      ['get_fee_due', ['fee_due']],
      ['merge_fee_due', ['fee_due']],
      ['replace_fee_due', ['fee_due']],
      ['delete_fee_due', ['fee_due']],
    ]);
    expect(tags).toContainEqual({ name: 'fee_due', description: expect.stringContaining('fee_due') });
    const merge = paths['/o/recs/fee_due/{id}'].patch;
    expect(merge.requestBody.content['application/json'].schema.$ref).toMatch(/FeeDueRecordChanges$/);
    expect(merge.responses[200].content['application/json'].schema.$ref).toMatch(/FeeDueRecord$/);
    const create = paths['/o/fee_due'].post.requestBody.content['application/json'].schema;
    expect(JSON.stringify(create)).toContain('NewFeeDueRecord');
  });

  it('have names of their own, whatever the collections are called', () => {
    const names = ['a1', 'a_1', 'new_task', 'task', 'any', 'any_record', 'x__y', 'x_y', 'task_record'];
    const schemas = names.flatMap((name) => [
      recordSchemaName(name),
      newRecordSchemaName(name),
      changesSchemaName(name),
    ]);
    expect(new Set([...schemas, 'Record', 'AnyRecord']).size).toBe(schemas.length + 2);
    expect(recordSchemaName('fee_receipt')).toBe('FeeReceiptRecord');
  });

  it('have operations with a description, a name of their own, and the answers to expect', async () => {
    const { paths } = JSON.parse(await readFile('schema/openapi.json', 'utf8'));
    interface Described {
      readonly operationId: string;
      readonly description?: string;
      readonly responses: Readonly<Record<string, { readonly headers?: object }>>;
    }
    const operations = Object.values<Record<string, Described>>(paths).flatMap((one) => Object.values(one));
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(operations.filter(({ description }) => !description)).toEqual([]);
    const vital = operations.filter(({ responses }) => !('429' in responses));
    expect(vital.map(({ operationId }) => operationId)).toEqual(['health', 'readiness', 'metrics']);
    for (const { operationId, responses } of operations) {
      if (vital.some((one) => one.operationId === operationId)) continue;
      expect([operationId, Object.keys(responses)]).toEqual([operationId, expect.arrayContaining(['401'])]);
      for (const [status, { headers }] of Object.entries(responses)) {
        if (status.startsWith('2')) expect(headers).toHaveProperty('RateLimit-Remaining');
      }
    }
  });
});

describe('the table', () => {
  it('names a resolver method in every row but those that need none', () => {
    const withoutResolver = table.routes
      .filter((route) => route.resolvers.length === 0)
      .map((route) => route.path);
    expect(withoutResolver.filter((path) => path !== '/')).toEqual(['/teapot']);
  });

  it('has every method of the general row where a collection has rows of its own', () => {
    const rowsByPath = new Map<string, string[]>();
    for (const { path, method } of table.routes)
      rowsByPath.set(path, [...(rowsByPath.get(path) ?? []), method]);
    for (const [path, methods] of rowsByPath) {
      if (/^\/o\/recs\/\w+$/.test(path)) expect([path, methods.sort()]).toEqual([path, ['GET', 'POST']]);
    }
  });

  it('has each method of a path once', () => {
    const rows = table.routes.map((route) => `${route.method} ${route.path}`);
    expect(new Set(rows).size).toBe(rows.length);
  });
});
