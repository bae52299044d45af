/**
 * Callers at the doors of every collection, once: the deterministic part of the campaign `rights`. What
 * must come of it is worked out from schema/collections by test/campaign/rights/promise.ts.
 */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { reports } from '../../src/school/reports/registry.js';
import { PROBES, READ_DOORS, WRITE_DOORS } from '../campaign/rights/doors.js';
import { IMPORT_DOORS, IMPORT_PROBES } from '../campaign/rights/import-doors.js';
import {
  recordsOf,
  tryToAdminister,
  tryToFindOut,
  tryToHavePersons,
  tryToKnow,
  tryToListen,
  tryToRead,
  tryToReport,
  tryToSeeMessages,
  tryToWrite,
} from '../campaign/rights/matrix.js';
import { type Caller, COLLECTIONS, promiseOf } from '../campaign/rights/promise.js';
import { openSchool, type School } from '../campaign/rights/school.js';
import { tryToSeeImports } from '../campaign/rights/see-imports.js';
import { IS_FULL_LENGTH } from '../full-length.js';
import { ROLES, useGateway } from './gateway.js';

/**
 * A write is prepared, looked at and taken back, and takes as long as some two reads: `npm test` tries one in
 * 32, and of the reads one in sixteen, by which every caller and every collection come to each door; the
 * campaign `generative` tries them all.
 */
const WRITES_ARE_ONE_OF = 32;
const READS_ARE_ONE_OF = 16;
/** A script takes as long as some ten other reads. */
const SCRIPTS_ARE_ONE_OF = 32;
/** An import takes as long as some ten other writes. */
const IMPORTS_ARE_ONE_OF = 48;
/** Of the doors of each import that is hidden; the next one, and the next caller, has others. */
const IMPORT_READS_ARE_ONE_OF = 13;
/** Of the hidden fields of all callers; the next probe has others. */
const PROBES_ARE_ONE_OF = 4;
const PROBES_BY_IMPORT_ARE_ONE_OF = 48;
/** A report takes as long as some five other reads; each is run by callers of many roles. */
const REPORTS_ARE_ONE_OF = 6;

const gateway = useGateway({ IMPORT_ROLES: ROLES.join(), FEDERATION: 'true' });
let school: School;

beforeAll(async () => {
  school = await openSchool(gateway);
});

/** What came out otherwise than declared, over all callers and collections that are chosen. */
async function faultsOf(
  attempt: (options: {
    school: School;
    caller: School['callers'][number];
    collection: (typeof COLLECTIONS)[number];
  }) => Promise<readonly (string | undefined)[]>,
  isChosen: (callerIndex: number, collectionIndex: number) => boolean = () => true,
): Promise<readonly string[]> {
  const faults: string[] = [];
  let tried = 0;
  for (const [callerIndex, caller] of school.callers.entries()) {
    for (const [collectionIndex, collection] of COLLECTIONS.entries()) {
      if (!isChosen(callerIndex, collectionIndex)) continue;
      tried += 1;
      const found = await attempt({ school, caller, collection });
      faults.push(
        ...found.flatMap((fault) =>
          fault === undefined ? [] : [`${caller.name}, ${collection.name}: ${fault}`],
        ),
      );
    }
  }
  expect(tried).toBeGreaterThan(0);
  return faults;
}

it('has callers of every kind', () => {
  expect(school.callers.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      'nobody',
      'a user who was removed',
      'the viewer',
      'the clerk of the branch',
      'who is teacher and viewer',
    ]),
  );
});

describe('every caller reads what is declared for it, and nothing else', () => {
  it.each(READ_DOORS.map((door, index) => [door.name, door, index] as const))(
    'by %s',
    async (_name, door, doorIndex) => {
      const areOneOf = door.name.startsWith('platform.') ? SCRIPTS_ARE_ONE_OF : READS_ARE_ONE_OF;
      const isChosen = (callerIndex: number, collectionIndex: number) =>
        IS_FULL_LENGTH || (callerIndex + collectionIndex + doorIndex) % areOneOf === 0;
      const faults = await faultsOf(async (attempt) => {
        const [near, far] = recordsOf(school, attempt.caller, attempt.collection);
        if (near === undefined || far === undefined) throw new Error('there are two records of each');
        if (door.except?.includes(attempt.collection.name)) return [];
        const records = door.gives.startsWith('one') ? [near, far] : [near];
        return await Promise.all(records.map((record) => tryToRead(attempt, door, record)));
      }, isChosen);
      expect(faults).toEqual([]);
    },
  );
});

describe('every caller writes what is declared for it, and nothing else', () => {
  it.each(WRITE_DOORS.map((door, index) => [door.name, door, index] as const))(
    'by %s',
    async (_name, door, doorIndex) => {
      const faults = await faultsOf(
        async (attempt) => [await tryToWrite(attempt, door, 'near'), await tryToWrite(attempt, door, 'far')],
        (callerIndex, collectionIndex) =>
          IS_FULL_LENGTH || (callerIndex + collectionIndex + doorIndex) % WRITES_ARE_ONE_OF === 0,
      );
      expect(faults).toEqual([]);
    },
  );
});

describe('every caller imports what is declared for it, and nothing else', () => {
  it.each(IMPORT_DOORS.map((door, index) => [door.name, door, index] as const))(
    'by %s',
    async (_name, door, doorIndex) => {
      const faults = await faultsOf(
        async (attempt) => [await tryToWrite(attempt, door, 'near'), await tryToWrite(attempt, door, 'far')],
        (callerIndex, collectionIndex) =>
          IS_FULL_LENGTH || (callerIndex + 5 * collectionIndex + doorIndex) % IMPORTS_ARE_ONE_OF === 0,
      );
      expect(faults).toEqual([]);
    },
    1_200_000,
  );
});

describe('no caller finds out a field that is hidden from it', () => {
  it.each([
    ...PROBES.map((probe, index) => {
      const areOneOf = probe.name.startsWith('platform.') ? SCRIPTS_ARE_ONE_OF : PROBES_ARE_ONE_OF;
      return [probe.name, probe, areOneOf, index] as const;
    }),
    ...IMPORT_PROBES.map((probe, index) => [probe.name, probe, PROBES_BY_IMPORT_ARE_ONE_OF, index] as const),
  ])(
    'by %s',
    async (_name, probe, areOneOf, probeIndex) => {
      const hidden = school.callers.flatMap((caller) =>
        COLLECTIONS.flatMap((collection) => {
          const promised = promiseOf(caller, collection, 'read');
          if (typeof promised === 'number' || probe.of?.includes(collection.name) === false) return [];
          return [...promised.hiddenFields].map((field) => ({
            attempt: { school, caller, collection },
            field,
          }));
        }),
      );
      const first = probeIndex % Math.min(areOneOf, hidden.length);
      const chosen = hidden.filter((_one, index) => IS_FULL_LENGTH || index % areOneOf === first);
      expect(chosen.length).toBeGreaterThan(0);
      const faults: string[] = [];
      for (const { attempt, field } of chosen) {
        const fault = await tryToFindOut(attempt, probe, field);
        if (fault !== undefined) faults.push(`${attempt.caller.name}, ${attempt.collection.name}: ${fault}`);
      }
      expect(faults).toEqual([]);
    },
    600_000,
  );
});

it('every caller runs the reports of its role, and no others', async () => {
  const faults: string[] = [];
  for (const [callerIndex, caller] of school.callers.entries()) {
    for (const [reportIndex, report] of reports.entries()) {
      if (!IS_FULL_LENGTH && (callerIndex + reportIndex) % REPORTS_ARE_ONE_OF !== 0) continue;
      const fault = await tryToReport(school, caller, report);
      if (fault !== undefined) faults.push(`${caller.name}, ${report.name}: ${fault}`);
    }
  }
  expect(faults).toEqual([]);
});

it.each([
  ['is told by openapi.json of what it may read, and of nothing else', tryToKnow],
  ['sees the messages of the school that are its own', tryToSeeMessages],
  [
    'sees the imports that are its own to see',
    (ofSchool: School, caller: Caller) =>
      tryToSeeImports(ofSchool, caller, IS_FULL_LENGTH ? 1 : IMPORT_READS_ARE_ONE_OF),
  ],
  ['looks after settings and branches where it administers, and nowhere else', tryToAdminister],
  ['has persons exported and erased where it administers, and nowhere else', tryToHavePersons],
] as const)('every caller %s', async (_what, attempt) => {
  const faults: string[] = [];
  for (const caller of school.callers) {
    const fault = await attempt(school, caller);
    if (fault !== undefined) faults.push(`${caller.name}: ${fault}`);
  }
  expect(faults).toEqual([]);
});

it('every caller is told of the changes it may read', async () => {
  const told = COLLECTIONS.filter(({ name }) =>
    ['task', 'registration', 'attendance', 'pltf_user'].includes(name),
  );
  const faults = [];
  for (const collection of told) faults.push(...(await tryToListen(school, school.callers, collection)));
  expect(faults.filter((fault) => fault !== undefined)).toEqual([]);
});
