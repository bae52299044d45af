/**
 * The rights matrix: callers × doors × collections × attempts, chosen at random and held against the
 * declarations. Every combination once is test/contract/rights-matrix.test.ts; here they come in any order
 * and several at a time, so that what one caller is told cannot depend on who asked before, or at the same
 * moment.
 */
import { beforeAll, expect } from '@jest/globals';
import type { Random } from '../../src/school/demo/random.js';
import { reports } from '../../src/school/reports/registry.js';
import { ROLES, useGateway } from '../contract/gateway.js';
import { campaign } from './campaign.js';
import { PROBES, READ_DOORS, WRITE_DOORS } from './rights/doors.js';
import { IMPORT_DOORS, IMPORT_PROBES } from './rights/import-doors.js';
import { recordsOf, tryToFindOut, tryToListen, tryToRead, tryToReport, tryToWrite } from './rights/matrix.js';
import { COLLECTIONS, promiseOf } from './rights/promise.js';
import { openSchool, type School } from './rights/school.js';
import { tryToSeeImports } from './rights/see-imports.js';

const gateway = useGateway({ IMPORT_ROLES: ROLES.join(), FEDERATION: 'true' });
const READS_AT_ONCE = 24;
let school: School;

beforeAll(async () => {
  school = await openSchool(gateway);
}, 60_000);

campaign('gives no caller more, or less, than the declarations do', async ({ random, count }) => {
  const pick = () => ({
    school,
    caller: oneOf(random, school.callers),
    collection: oneOf(random, COLLECTIONS),
  });
  const faults: string[] = [];
  const note = (what: string, fault: string | undefined) => {
    count('attempts');
    if (fault !== undefined) faults.push(`${what}: ${fault}`);
  };

  const reading = Array.from({ length: READS_AT_ONCE }, async () => {
    const attempt = pick();
    const door = oneOf(random, READ_DOORS);
    if (door.except?.includes(attempt.collection.name)) return;
    const record = oneOf(random, recordsOf(school, attempt.caller, attempt.collection));
    note(nameOf(attempt, door.name), await tryToRead(attempt, door, record));
  });
  const probing = Array.from({ length: READS_AT_ONCE }, async () => {
    const attempt = pick();
    const probe = oneOf(random, [...PROBES, ...IMPORT_PROBES]);
    const promised = promiseOf(attempt.caller, attempt.collection, 'read');
    if (typeof promised === 'number' || promised.hiddenFields.size === 0) return;
    const field = oneOf(random, [...promised.hiddenFields]);
    note(nameOf(attempt, `${probe.name} by ${field}`), await tryToFindOut(attempt, probe, field));
  });
  await Promise.all([...reading, ...probing]);

  // What is written is counted before and after, so it is written alone.
  const writing = pick();
  const door = oneOf(random, [...WRITE_DOORS, ...IMPORT_DOORS]);
  note(nameOf(writing, door.name), await tryToWrite(writing, door, oneOf(random, ['near', 'far'])));
  const seeing = pick();
  note(`${seeing.caller.name}, imports`, await tryToSeeImports(school, seeing.caller));
  const reporting = pick();
  const report = oneOf(random, reports);
  note(`${reporting.caller.name}, ${report.name}`, await tryToReport(school, reporting.caller, report));
  const listening = pick();
  const [fault] = await tryToListen(school, [listening.caller], listening.collection);
  note('a subscription', fault);
  expect(faults).toEqual([]);
});

function oneOf<T>(random: Random, values: readonly T[]): T {
  const [first, ...others] = values;
  if (first === undefined) throw new Error('there is nothing to choose from');
  return random.pick([first, ...others]);
}

function nameOf(
  { caller, collection }: { readonly caller: { name: string }; readonly collection: { name: string } },
  door: string,
): string {
  return `${caller.name}, ${collection.name}, ${door}`;
}
