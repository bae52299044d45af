import { describe, expect, it } from '@jest/globals';
import { parseCollection } from '../../../src/store/catalog/parse-collection.js';
import type { PlanScan } from '../../../src/store/database/statement-plan.js';
import { suggestIndexes } from '../../../src/store/reading/slow-statements.js';

const visits = parseCollection(
  {
    name: 'visit',
    fields: [
      { name: 'class', type: 'text' },
      { name: 'created', type: 'datetime', index: true },
      { name: 'name', type: 'text' },
      { name: 'known', type: 'text', searchable: true },
      { name: 'host', type: 'reference', target: 'pltf_user' },
      { name: 'tags', type: 'text', list: true },
      { name: 'place', type: 'object', fields: [{ name: 'floor', type: 'number' }] },
    ],
  },
  { source: 'visit', isDeclared: true, version: 1 },
);

function suggested(scan: Partial<PlanScan>, sortKeys: readonly string[] = []): readonly string[] {
  const scans = [{ table: 'records_visit', condition: '', filter: '', ...scan }];
  return suggestIndexes({ scans, sortKeys }, [visits]).map(({ declaration }) => declaration);
}

describe('the index a plan asks for', () => {
  it.each([
    [
      'one field compared',
      { filter: `((r.data -> 'class'::text) = '"5"'::jsonb)` },
      [],
      ['"index": true on the field class'],
    ],
    [
      'two fields compared',
      { filter: `((data -> 'class'::text) = '"5"'::jsonb) AND ((data -> 'name'::text) > '"A"'::jsonb)` },
      [],
      ['"indexes": [["class", "name"]]'],
    ],
    [
      'a field beside that of an index there is',
      {
        condition: `((data -> 'created'::text) >= '"2026"'::jsonb)`,
        filter: `((data -> 'class'::text) = '"5"'::jsonb)`,
      },
      [],
      ['"indexes": [["class", "created"]]'],
    ],
    ['an order', {}, [`((r.data -> 'name'::text))`, 'r.id'], ['"index": true on the field name']],
    [
      'a condition and an order',
      { filter: `((data -> 'class'::text) = '"5"'::jsonb)` },
      [`((data -> 'created'::text)) DESC`],
      ['"indexes": [["class", "created"]]'],
    ],
    [
      'a part of a text',
      { filter: `((data ->> 'name'::text) ~~* '%ar%'::text)` },
      [],
      ['"searchable": true on the field name'],
    ],
    ['a part of a text that has its index', { filter: `((data ->> 'known'::text) ~~ '%ar%'::text)` }, [], []],
    [
      'a reference, by its value',
      { filter: `(((data -> 'host'::text) -> 'value'::text) = '"usr-1"'::jsonb)` },
      [],
      ['"index": true on the field host'],
    ],
    [
      'a reference beside a field',
      {
        filter:
          `(((data -> 'host'::text) -> 'value'::text) = '"u"'::jsonb) AND ((data -> 'class'::text) = ` +
          `'"5"'::jsonb)`,
      },
      [],
      ['"indexes": [["host.value", "class"]]'],
    ],
    [
      'a field that has an index, which was not worth it',
      { filter: `((data -> 'created'::text) > '"2"'::jsonb)` },
      [],
      [],
    ],
    ['a list', { filter: `((data -> 'tags'::text) = '"x"'::jsonb)` }, [], []],
    [
      'a member of an object, which takes no index alone',
      { filter: `(((data -> 'place'::text) -> 'floor'::text) = '1'::jsonb)` },
      [],
      [],
    ],
    ['a field nobody declared', { filter: `((data -> 'other'::text) = '1'::jsonb)` }, [], []],
    ['what is served whole', { condition: `((data -> 'created'::text) = '"2026"'::jsonb)` }, [], []],
    [
      'the order of groups, which are computed',
      {},
      [
        `(CASE WHEN (jsonb_typeof((r.data -> 'class'::text)) = 'string'::text) THEN (r.data ->> ` +
          `'class'::text) END)`,
      ],
      [],
    ],
    ['another table', { table: 'records_task', filter: `((data -> 'class'::text) = '"5"'::jsonb)` }, [], []],
  ])('of %s', (_, scan, sortKeys, expected) => {
    expect(suggested(scan, sortKeys)).toEqual(expected);
  });
});
