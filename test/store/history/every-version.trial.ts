/** Whatever was written, and however, every version is had again to the last digit. */
import { expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { ServiceError } from '../../../src/base/errors.js';
import { ExactNumber, type JsonObject, type JsonValue } from '../../../src/base/json/json.js';
import type { UpdateOperation } from '../../../src/base/model/update-operation.js';
import { runsOf } from '../../full-length.js';
import { ADMIN } from '../people.js';
import { dataOf, useTestStore } from '../store.js';

jest.setTimeout(300_000);

const test = useTestStore();
const ID = 'n-1';

/** Names that are awkward in paths, in SQL and in JavaScript, beside plain ones that meet again. */
const name = fc.constantFrom('a', 'b', 'c', 'a.b', '0', 'é', "it's", '"q"', 'constructor', '{x}');
const scalar: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.constantFrom<JsonValue>(null, true, false, '', 'text', '[]', 0, 1, -1.5, 1e21),
  fc
    .constantFrom('123456789012345678901234567890.123456789', '0.1000000000000000055511151231257827', '1e-30')
    .map((digits) => new ExactNumber(digits)),
);
const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
}));
const fields = fc.dictionary(name, value, { maxKeys: 4, noNullPrototype: true }) as fc.Arbitrary<JsonObject>;
const plain = fc.constantFrom('a', 'b', 'c');
const operation: fc.Arbitrary<UpdateOperation> = fc.oneof(
  fc.record({
    kind: fc.constant('set' as const),
    path: fc.array(plain, { minLength: 1, maxLength: 3 }),
    value,
  }),
  fc.record({ kind: fc.constant('unset' as const), path: fc.array(plain, { minLength: 1, maxLength: 3 }) }),
  fc.record({
    kind: fc.constant('increment' as const),
    path: plain.map((one) => [one]),
    by: fc.constantFrom(1, -3),
  }),
);

type Write =
  | { readonly kind: 'merge' | 'replace' | 'upsert'; readonly data: JsonObject }
  | { readonly kind: 'operations'; readonly operations: readonly UpdateOperation[] }
  | { readonly kind: 'delete' | 'deleteMatching' }
  | { readonly kind: 'restore'; readonly back: number }
  | { readonly kind: 'undo' };

const write: fc.Arbitrary<Write> = fc.oneof(
  fc.record({ kind: fc.constantFrom('merge', 'replace', 'upsert'), data: fields }),
  fc.record({
    kind: fc.constant('operations'),
    operations: fc.array(operation, { minLength: 1, maxLength: 2 }),
  }),
  fc.record({ kind: fc.constantFrom('delete', 'deleteMatching') }),
  fc.record({ kind: fc.constant('restore'), back: fc.nat(6) }),
  fc.record({ kind: fc.constant('undo') }),
) as fc.Arbitrary<Write>;

const byId = { kind: 'equals', path: ['_id'], value: ID } as const;

async function apply(
  one: Write,
  at: { readonly version: number; readonly requestId: string },
): Promise<void> {
  const { store } = test;
  const scope = { ...ADMIN, call: { requestId: at.requestId } };
  switch (one.kind) {
    case 'merge':
    case 'replace':
      await store.update(scope, 'note', ID, { data: one.data, mode: one.kind });
      return;
    case 'upsert':
      await store.upsert(scope, 'note', { records: [{ _id: ID, ...one.data }], by: '_id' });
      return;
    case 'operations':
      await store.updateMatching(scope, 'note', { filter: byId, update: one.operations });
      return;
    case 'delete':
      await store.delete(scope, 'note', ID);
      return;
    case 'deleteMatching':
      await store.deleteMatching(scope, 'note', { filter: byId });
      return;
    case 'restore':
      await store.restore(scope, 'note', ID, { version: Math.max(1, at.version - one.back) });
      return;
    case 'undo':
      await store.undo(scope, `${at.requestId.split('/')[0]}/${Number(at.requestId.split('/')[1]) - 1}`);
  }
}

let run = 0;

it('every version of a record is what it was, and what is restored or undone is that again', async () => {
  let checked = 0;
  await fc.assert(
    fc.asyncProperty(fields, fc.array(write, { minLength: 1, maxLength: 12 }), async (first, writes) => {
      const { store } = test;
      run += 1;
      await test.database.pool.query('delete from records; delete from audit_entries');
      await store.create({ ...ADMIN, call: { requestId: `run-${run}/0` } }, 'note', [{ _id: ID, ...first }]);
      const states = new Map<number, JsonObject | 'removed'>();
      const look = async (): Promise<number> => {
        const { rows } = await test.database.pool.query('select version, deleted_at from records');
        const [{ version, deleted_at: removedAt }] = rows;
        if (removedAt !== null) states.set(version, 'removed');
        else states.set(version, dataOf(await store.get(ADMIN, 'note', ID)));
        return version;
      };
      let version = await look();
      const versions = [version];
      for (const [index, one] of writes.entries()) {
        try {
          await apply(one, { version, requestId: `run-${run}/${index + 1}` });
          const before = version;
          version = await look();
          if (one.kind === 'restore') {
            expect(states.get(version)).toEqual(states.get(Math.max(1, before - one.back)));
          }
          if (one.kind === 'undo') {
            expect(states.get(version)).toEqual(states.get(versions.at(-2) ?? 0) ?? 'removed');
          }
        } catch (error) {
          // What the rules of a write refuse changes nothing: the next one is tried.
          if (!(error instanceof ServiceError) || error.status >= 500) throw error;
        }
        versions.push(version);
      }
      for (let wanted = 1; wanted <= version; wanted += 1) {
        const state = states.get(wanted);
        const past = store.getPast(ADMIN, 'note', ID, { version: wanted });
        if (state === 'removed') await expect(past).rejects.toMatchObject({ code: 'GONE' });
        else expect(dataOf(await past)).toEqual(state);
        checked += 1;
      }
    }),
    runsOf(400),
  );
  expect(checked).toBeGreaterThan(100);
});
