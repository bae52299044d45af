import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { buildSchema } from 'graphql';
import { readCollections } from '../../../src/gateway/graphql/print-schema.js';
import { printAct, readActs } from '../../../src/school/acts/read-acts.js';

const collections = await readCollections('schema/collections');
const schema = buildSchema(await readFile('schema/schema.graphql', 'utf8'));
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'acts-'));
  await cp('schema/acts', folder, { recursive: true });
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

/** Declares the rollback with changes as an act of the school, and prints all acts as the start does. */
async function printWith(changes: Readonly<Record<string, unknown>>) {
  const act = JSON.parse(await readFile('schema/acts/roll-back-receipt.json', 'utf8'));
  const own = { ...act, name: 'own', ...changes };
  await writeFile(path.join(folder, 'own.json'), JSON.stringify(own));
  return (await readActs(folder, collections)).map((one) => printAct(one, schema));
}

const RECEIPT = { 'rollback.receiptNo': { from: 'receipt_no' } };
const TYPE = { 'rollback.type': { value: 'REFUND' } };

describe('acts', () => {
  it('draw their form from the inputs of the mutation', async () => {
    const printed = await printWith({
      inputs: { ...RECEIPT, ...TYPE, 'rollback.reason': {} },
      translations: {},
      result: [{ field: 'receiptNo', title: 'Receipt' }],
    });
    expect(printed.find(({ name }) => name === 'own')).toMatchObject({
      document:
        'mutation Act($rollback: RollBackReceiptInput!) ' +
        '{ rollBackReceipt(rollback: $rollback) { __typename receiptNo } }',
      inputs: [
        { path: 'rollback.receiptNo', from: 'receipt_no', type: 'String', isRequired: true },
        { path: 'rollback.type', allowed: ['ENTRY_ERROR', 'BOUNCE', 'REFUND', 'DUPLICATE'] },
        { path: 'rollback.reason', type: 'String', isList: false, isRequired: true },
      ],
    });
  });

  it.each([
    [{ mutation: 'rollBack' }, '/mutation: there is no mutation "rollBack"'],
    [{ name: 'approve-leave' }, '/name: "approve-leave" is the name of another act'],
    [{ colour: 'red' }, 'unknown key "colour"'],
    [{ needs: { collection: 'receipts' } }, '/needs/collection: there is no collection "receipts"'],
    [{ needs: { collection: 'task', fields: ['x'] } }, '/needs/fields: task has no field "x"'],
    [{ on: [{ record: 'receipts' }] }, '/on/0/record: there is no collection "receipts"'],
    [{ on: [{ report: 'receipts' }] }, '/on/0/report: there is no report "receipts"'],
    [{ on: [{ record: 'task' }] }, '/inputs: task has no field "receipt_no"'],
    [{ translations: { hi: { Rollback: 'x' } } }, '/translations/hi: the act has no text "Rollback"'],
    [{ inputs: { ...RECEIPT, ...TYPE }, translations: {} }, '/inputs: "rollback.reason" is required'],
    [{ inputs: {}, translations: {} }, '/inputs: "rollback" is required'],
    [{ inputs: { number: {} }, translations: {} }, '/inputs/number: rollBackReceipt has no such input'],
    [{ inputs: { 'rollback.type': { value: 'LOST' } }, translations: {} }, '"LOST" is not one of its values'],
    [{ preview: 'rollback.reason' }, '/preview: rollBackReceipt has no switch "rollback.reason"'],
    [{ result: [{ field: 'sum', title: 'Sum' }] }, '/result: the result has no field "sum"'],
    [{ opens: '/portal' }, 'must match exactly one schema in oneOf'],
  ])('refuse %j with the file, the place and the fault', async (changes, fault) => {
    await expect(printWith(changes)).rejects.toThrow(fault);
    await expect(printWith(changes)).rejects.toThrow('schema/acts/own.json');
  });
});
