import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import { ServiceError } from '../../../src/base/errors.js';
import type { CollectionDefinition } from '../../../src/store/catalog/collection-definition.js';
import { parseCollection } from '../../../src/store/catalog/parse-collection.js';

const FILES = new URL('../../../schema/collections/', import.meta.url);

function parse(definition: unknown) {
  return parseCollection(definition, { source: 'test.json', isDeclared: true, version: 1 });
}

/** Pointers of the faults a definition is refused for. */
function expectFaults(definition: unknown): string[] {
  try {
    parse(definition);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    expect(error.code).toBe('INVALID_VALUE');
    expect(error.message).toMatch(/^test\.json: /);
    return (error.errors ?? []).map((fault) => fault.pointer ?? '');
  }
  throw new Error('the definition was accepted');
}

function withField(field: Record<string, unknown>): unknown {
  return { name: 'thing', fields: [field] };
}

it('is held to a schema that keeps the rules of schemas', () => {
  const schema = JSON.parse(readFileSync('schema/collections/collection.schema.json', 'utf8'));
  const ajv = new Ajv({ allowUnionTypes: true });
  expect(ajv.validateSchema(schema)).toBe(true);
  expect(() => ajv.compile(schema)).not.toThrow();
});

describe('a declaration is refused', () => {
  it('without a name', () => {
    expect(expectFaults({})).toEqual(['']);
  });

  it('with a name that is no safe name', () => {
    for (const name of ['Task', '1a', "a'b", 'a b', '', 'x'.repeat(41), 'a"; drop table records']) {
      expect(expectFaults({ name })).toEqual(['/name']);
    }
  });

  it('with an unknown key, named by its pointer', () => {
    expect(expectFaults({ name: 'thing', colour: 'red' })).toEqual(['/colour']);
    expect(expectFaults(withField({ name: 'a', type: 'text', requird: true }))).toEqual([
      '/fields/0/requird',
    ]);
  });

  it('with an unknown type, listing those there are', () => {
    try {
      parse(withField({ name: 'a', type: 'string' }));
      throw new Error('accepted');
    } catch (error) {
      expect(error).toMatchObject({
        message: expect.stringContaining('text, number, boolean, datetime, reference, object'),
        errors: [{ pointer: '/fields/0/type', sent: 'string' }],
      });
    }
  });

  it("with a field name that is no safe name, or the record's own", () => {
    for (const name of [
      "a'b",
      'a.b',
      '',
      'a b',
      'x'.repeat(61),
      '_id',
      '_collection',
      'version',
      '__proto__',
    ]) {
      expect(expectFaults(withField({ name, type: 'text' }))).toEqual(['/fields/0/name']);
    }
  });

  it('with a field declared twice', () => {
    const fields = [
      { name: 'a', type: 'text' },
      { name: 'a', type: 'number' },
    ];
    expect(expectFaults({ name: 'thing', fields })).toEqual(['/fields/1/name']);
  });

  it.each([
    ['an enum of numbers', { type: 'number', enum: ['1'] }, 'enum'],
    ['a decimal text', { type: 'text', decimal: true }, 'decimal'],
    ['a month that is a number', { type: 'number', format: 'month' }, 'format'],
    ['a day that is text', { type: 'text', format: 'date' }, 'format'],
    ['a reference to nothing', { type: 'reference' }, 'target'],
    ['a text that points somewhere', { type: 'text', target: 'task' }, 'target'],
    ['members of a text', { type: 'text', fields: [{ name: 'x', type: 'text' }] }, 'fields'],
    ['a unique list', { type: 'text', list: true, unique: true }, 'unique'],
    ['an indexed object', { type: 'object', index: true }, 'index'],
    ['a searchable number', { type: 'number', searchable: true }, 'searchable'],
    ['a default of another type', { type: 'number', default: 'ten' }, 'default'],
    ['a default outside the enum', { type: 'text', enum: ['a'], default: 'b' }, 'default'],
    ['a datetime default other than now', { type: 'datetime', default: '2026-01-01' }, 'default'],
  ])('with %s', (_name, field, key) => {
    expect(expectFaults(withField({ name: 'a', ...field }))).toEqual([`/fields/0/${key}`]);
  });

  it('with a unique member of an object', () => {
    const member = { name: 'x', type: 'text', unique: true };
    expect(expectFaults(withField({ name: 'a', type: 'object', fields: [member] }))).toEqual([
      '/fields/0/fields/0/unique',
    ]);
  });

  it('with more fields than anybody reads, members counted', () => {
    const members = Array.from({ length: 90 }, (_, index) => ({ name: `m${index}`, type: 'text' }));
    const fields = ['a', 'b', 'c', 'd'].map((name) => ({ name, type: 'object', fields: members }));
    expect(expectFaults({ name: 'thing', fields })).toEqual(['/fields']);
  });

  it('with a label, rule, grant or access that names what is not declared', () => {
    const faults = expectFaults({
      name: 'thing',
      labelField: 'nom',
      fields: [{ name: 'name', type: 'text' }],
      uniqueTogether: [{ name: 'pair', parts: [{ path: 'name', by: 'day' }, { path: 'other' }] }],
      checks: [{ kind: 'sum', total: 'name', of: ['lines.amount'] }],
      grants: [{ attribute: 'a', list: 'name', caller: 'x', key: ['name'] }],
      access: {
        viewer: { verbs: ['read'], hiddenFields: ['phone'], rows: { fields: ['class'], attribute: 'a' } },
      },
    });
    expect(faults).toEqual([
      '/labelField',
      '/uniqueTogether/0/parts/0/path',
      '/uniqueTogether/0/parts/1/path',
      '/checks/0/total',
      '/checks/0/of/0',
      '/grants/0/list',
      '/access/viewer/hiddenFields/0',
      '/access/viewer/rows/fields/0',
    ]);
  });

  it('with row rules that no record or caller has values for', () => {
    const fields = [
      { name: 'shared_with', type: 'text', list: true },
      { name: 'sizes', type: 'number', list: true },
      { name: 'owner', type: 'text' },
    ];
    const own = { fields: ['owner'], attribute: 'self' };
    const ofRoles = (...paths: string[]) => ({ fields: paths, attribute: 'roles' });
    const accessOf = (access: object) => ({ name: 'thing', fields, access: { viewer: access } });
    const right = accessOf({ verbs: ['read'], rows: own, alsoReads: [ofRoles('shared_with')] });
    expect(parse(right).name).toBe('thing');
    for (const [access, pointer] of [
      [{ alsoReads: [ofRoles('shared_with')] }, 'alsoReads'],
      [{ rows: own, alsoReads: [ofRoles('owner', 'shared_with')] }, 'alsoReads/0/fields'],
      [{ rows: own, alsoReads: [ofRoles('sizes')] }, 'alsoReads/0/fields/0'],
      [{ rows: { fields: ['shared_with'], attribute: 'self' } }, 'rows/fields/0'],
      [{ rows: own, alsoReads: [] }, 'alsoReads'],
    ] as const)
      expect(expectFaults(accessOf({ verbs: ['read'], ...access }))).toEqual([`/access/viewer/${pointer}`]);
  });

  it('that says of a person what none of its fields is', () => {
    const fields = [
      { name: 'name', type: 'text', required: true },
      { name: 'number', type: 'text', required: true },
      { name: 'state', type: 'text', required: true, enum: ['here', 'gone'] },
      { name: 'born', type: 'datetime', required: true },
      { name: 'friends', type: 'reference', target: 'thing', list: true },
    ];
    const personal = {
      about: ['friends', 'nobody'],
      identifiers: ['name', 'number', 'born', 'nothing'],
      fields: ['state', 'nothing'],
      keep: 'It is kept.',
    };
    const definition = { name: 'thing', labelField: 'name', fields, personal };
    expect(expectFaults(definition)).toEqual([
      '/personal/about/0',
      '/personal/about/1',
      '/personal/identifiers/2',
      '/personal/identifiers/3',
      // What is required cannot go where the record stays, unless any text may stand there.
      '/personal/identifiers/2',
      '/personal/fields/0',
      '/personal/fields/1',
    ]);
    const removed = {
      ...personal,
      about: [],
      identifiers: ['name'],
      fields: ['state', 'born'],
      keep: undefined,
    };
    const parsed = parseCollection(
      { ...definition, personal: JSON.parse(JSON.stringify(removed)) },
      { source: 'test', isDeclared: true, version: 1 },
    );
    expect(parsed.personal).toEqual({
      ...{ isPerson: false, about: [], identifiers: ['name'], fields: ['state', 'born'] },
      keptBecause: undefined,
    });
  });

  it('with an unknown verb', () => {
    expect(expectFaults({ name: 'thing', access: { viewer: { verbs: ['see'] } } })).toEqual([
      '/access/viewer/verbs/0',
    ]);
  });

  it('with the same name for one and for many', () => {
    expect(expectFaults({ name: 'news', singular: 'news', plural: 'news' })).toEqual(['/plural']);
  });
});

describe('a declaration', () => {
  it('needs a name only', () => {
    expect(parse({ name: 'fee_head' })).toMatchObject({
      title: 'fee_head',
      singular: 'feeHead',
      plural: 'feeHeads',
      fields: [],
    });
  });

  it('makes hidden fields read-only', () => {
    const collection = parse({
      name: 'thing',
      fields: [
        { name: 'phone', type: 'text' },
        { name: 'name', type: 'text' },
      ],
      access: { viewer: { verbs: ['read'], hiddenFields: ['phone'], readOnlyFields: ['name'] } },
    });
    expect(collection.access.get('viewer')?.readOnlyFields).toEqual(new Set(['phone', 'name']));
  });

  it('keeps the order of the fields', () => {
    const names = ['zebra', 'a', 'mm'];
    const fields = names.map((name) => ({ name, type: 'text' }));
    expect(parse({ name: 'thing', fields }).fields.map((field) => field.name)).toEqual(names);
  });
});

describe('the files of schema/collections', () => {
  const files = readdirSync(FILES).filter((file) => file.endsWith('.json') && !file.endsWith('.schema.json'));

  it.each(files)('%s is a declaration with a title, and a description of every field', (file) => {
    const definition: CollectionDefinition = JSON.parse(readFileSync(new URL(file, FILES), 'utf8'));
    const collection = parse(definition);
    expect(`${collection.name}.json`).toBe(file);
    expect(definition.title).toBeDefined();
    expect(collection.description).not.toBe('');
    expect(collection.fields.filter((field) => field.description === '').map((field) => field.name)).toEqual(
      [],
    );
  });
});
