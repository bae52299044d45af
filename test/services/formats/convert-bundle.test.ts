/** A OneRoster bundle as records, taken in by the imports of the gateway. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { strToU8, zipSync } from 'fflate';
import { ExactNumber, printExactJson } from '../../../src/base/json/json.js';
import {
  type Converted,
  convertBundle,
  filesOf,
  readBundle,
} from '../../../src/services/formats/convert-bundle.js';
import { readFormatMapping } from '../../../src/services/formats/format-mapping.js';
import { useGateway } from '../../contract/gateway.js';
import { eventually } from '../../eventually.js';

const gateway = useGateway();
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'campus-oneroster-'));
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** Columns are parted by spaces here, the cells of a row by commas. */
const sheet = (columns: string, ...rows: readonly string[]) =>
  [columns.trim().split(/\s+/).join(','), ...rows].join('\n');

const BUNDLE = {
  'academicSessions.csv': sheet(
    `sourcedId status dateLastModified title type startDate endDate parentSourcedId
     schoolYear`,
    'ay26,,,School Year 26,schoolYear,2026-04-01,2027-03-31,,2027',
  ),
  'courses.csv': sheet(
    `sourcedId status dateLastModified schoolYearSourcedId title courseCode grades
     orgSourcedId subjects subjectCodes`,
    'c5,,,ay26,Class 5,5,05,o1,,',
  ),
  'classes.csv': sheet(
    `sourcedId status dateLastModified title grades courseSourcedId classCode classType
     location schoolSourcedId termSourcedIds subjects subjectCodes periods`,
    'k5a,,,Class 5 A,05,c5,5-A,homeroom,12,o1,"ay26,ay27",,,',
    'k5b,,,Class 5 B,05,c5,5-B,homeroom,,o1,ay26,,,',
  ),
  'users.csv': sheet(
    `sourcedId status dateLastModified enabledUser username userIds givenName familyName
     middleName identifier email sms phone pronouns`,
    'u1,,,true,meena,,Meena,Iyer,,E1,m@school.example,,,she',
    's1,,,true,asha,,Asha,Rao,Devi,A-1,,5123456789,,',
    'p1,,,true,ravi,,Ravi,Rao,,,,,,',
  ),
  'roles.csv': sheet(
    `sourcedId status dateLastModified userSourcedId roleType role beginDate endDate
     orgSourcedId userProfileSourcedId`,
    'r1,,,u1,primary,teacher,2018-06-11,,o1,',
    'r2,,,u1,secondary,ext:clerk,,,o1,',
    'r3,,,s1,primary,student,2022-04-01,,o1,',
    'r4,,,p1,primary,parent,,,o1,',
  ),
  'enrollments.csv': sheet(
    `sourcedId status dateLastModified classSourcedId schoolSourcedId userSourcedId role
     primary beginDate endDate`,
    'e1,,,k5a,o1,s1,student,false,,',
    'e2,,,k5a,o1,u1,teacher,true,,',
  ),
  'demographics.csv': sheet('sourcedId status dateLastModified birthDate sex', 's1,,,2015-09-14,female'),
};

async function converted(files: Readonly<Record<string, string>>): Promise<Converted> {
  const zip = path.join(folder, 'bundle.zip');
  const entries = Object.entries(files).map(([name, content]) => [name, strToU8(content)] as const);
  await writeFile(zip, zipSync(Object.fromEntries(entries)));
  const { in: incoming, tables = {}, manifest } = await readFormatMapping('oneroster');
  if (incoming === undefined) throw new Error('OneRoster is read, too');
  const domain = { id: 'top', name: 'Top', timeZone: 'Asia/Kolkata' };
  const context = { domain, property: () => undefined, session: '2026-27', sessionFirstMonth: 4, tables };
  return convertBundle(incoming, await readBundle(zip, filesOf(incoming), manifest), context);
}

/** By the doors of the imports, as anybody would. */
async function importAll({ collections }: Converted): Promise<Record<string, unknown>> {
  const counts: Record<string, unknown> = {};
  for (const [collection, records] of collections) {
    const body = records.map((record) => printExactJson(record)).join('\n');
    const headers = { 'content-type': 'application/x-ndjson' };
    const sent = { method: 'POST', as: 'admin', headers, body } as const;
    const taken = await gateway.fetch(`/imports?collection=${collection}&name=${collection}.ndjson`, sent);
    const { id } = (await taken.json()) as { id: string };
    await reached(id, 'ready');
    const ran = await gateway.fetch(`/imports/${id}/run?mode=atomic&by=_id`, { method: 'POST', as: 'admin' });
    expect([collection, ran.ok ? '' : await ran.text()]).toEqual([collection, '']);
    counts[collection] = (await reached(id, 'done')).counts;
  }
  return counts;
}

async function reached(id: string, state: string) {
  let last: { state: string; counts: unknown; fault: unknown } = { state: '', counts: {}, fault: null };
  await eventually(async () => {
    const response = await gateway.fetch(`/imports/${id}`, { as: 'admin' });
    last = (await response.json()) as typeof last;
    return last.state === state || last.state === 'failed';
  }).catch((fault: unknown) => {
    throw new Error(`${JSON.stringify(last)}`, { cause: fault });
  });
  if (last.state !== state) {
    const errors = await gateway.fetch(`/imports/${id}/errors`, { as: 'admin' });
    throw new Error(`${await errors.text()} ${JSON.stringify(last)}`);
  }
  return last;
}

async function read(collection: string, id: string): Promise<unknown> {
  return await (await gateway.fetch(`/o/recs/${collection}/${id}`, { as: 'admin' })).json();
}

describe('a OneRoster bundle', () => {
  it('becomes records, and says what has no place', async () => {
    const { collections, homeless } = await converted(BUNDLE);
    expect([...collections.keys()]).toEqual(['pltf_user', 'class', 'registration']);
    expect(collections.get('pltf_user')).toEqual([
      {
        ...{ _id: 'u1', user_name: 'meena', name: 'Meena Iyer', email: 'm@school.example', active: true },
        ...{ employee_code: 'E1', joined_on: '2018-06-11', roles: ['teacher', 'clerk'] },
      },
    ]);
    expect(collections.get('class')).toEqual([
      {
        ...{ _id: 'c5', name: '5', category: 'Primary', order: new ExactNumber('5') },
        sections: [{ name: 'A', room: '12', class_teacher: 'u1' }, { name: 'B' }],
      },
    ]);
    expect(collections.get('registration')).toEqual([
      {
        ...{ _id: 's1', sequence: 'A-1', name: 'Asha Devi Rao', class: '5', section: 'A', gender: 'female' },
        ...{ dob: '2015-09-14', guardian_phone: '5123456789', session: '2026-27', admitted_on: '2022-04-01' },
        status: 'active',
      },
    ]);
    expect(homeless.get('users.pronouns')).toBe(1);
    expect(homeless.get('classes.grades')).toBe(2);
    expect([...homeless.keys()]).not.toContain('users.givenName');
  });

  it('is imported, and again without a change', async () => {
    const bundle = await converted(BUNDLE);
    const first = await importAll(bundle);
    expect(first).toMatchObject({
      pltf_user: { created: 1, refused: 0 },
      class: { created: 1, refused: 0 },
      registration: { created: 1, refused: 0 },
    });
    expect(await read('class', 'c5')).toMatchObject({
      sections: [{ name: 'A', class_teacher: { value: 'u1', label: 'Meena Iyer' } }, { name: 'B' }],
    });
    expect(await read('pltf_user', 'u1')).toMatchObject({ active: true, roles: ['teacher', 'clerk'] });
    expect(await importAll(bundle)).toMatchObject({
      pltf_user: { created: 0, updated: 0, same: 1 },
      class: { created: 0, updated: 0, same: 1 },
      registration: { created: 0, updated: 0, same: 1 },
    });
  });

  it('that is a delta changes what it has, and withdraws who is to be deleted', async () => {
    const heading = BUNDLE['users.csv'].split('\n')[0];
    const delta = await converted({
      'users.csv': `${heading}
s1,tobedeleted,2026-11-20T04:30:00Z,true,asha,,Asha,Rao,Devi,A-1,,5123456789,,`,
      'roles.csv': `${BUNDLE['roles.csv'].split('\n')[0]}
r3,tobedeleted,2026-11-20T04:30:00Z,s1,primary,student,2022-04-01,2026-11-19,o1,`,
    });
    expect(delta.collections.get('registration')).toEqual([
      {
        ...{ _id: 's1', sequence: 'A-1', name: 'Asha Devi Rao', guardian_phone: '5123456789' },
        ...{ admitted_on: '2022-04-01', left_on: '2026-11-19', status: 'withdrawn' },
      },
    ]);
    await importAll(delta);
    expect(await read('registration', 's1')).toMatchObject({
      ...{ status: 'withdrawn', left_on: '2026-11-19', class: '5', dob: '2015-09-14' },
    });
  });
});

const { 'roles.csv': _roles, ...OLD } = {
  ...BUNDLE,
  'users.csv': sheet('sourcedId status enabledUser orgSourcedIds role username', 's1,,true,o1,student,asha'),
};

it('finds the files of a bundle in a folder of the zip file, beside those of macOS', async () => {
  const inFolder = Object.entries(BUNDLE).flatMap(([name, text]) => [
    [`roster/${name}`, text],
    [`__MACOSX/roster/${name}`, 'x'],
  ]);
  const { collections } = await converted(Object.fromEntries(inFolder));
  expect([...collections.keys()]).toEqual(['pltf_user', 'class', 'registration']);
});

it.each([
  [
    'a bundle of 1.1 by its manifest',
    { ...OLD, 'manifest.csv': version('1.1') },
    /oneroster\.version 1\.1, and 1\.2/,
  ],
  ['a bundle of 1.1 without a manifest', OLD, /None of the 1 rows of users\.csv .* lacks roles\.csv/],
  [
    'bundles in two folders',
    { 'a/users.csv': BUNDLE['users.csv'], 'b/users.csv': BUNDLE['users.csv'] },
    /several folders/,
  ],
])('refuses %s', async (_what, files, reason) => {
  await expect(converted(files)).rejects.toThrow(reason);
});

it('reads a manifest of the version', async () => {
  expect((await converted({ ...BUNDLE, 'manifest.csv': version('1.2') })).collections.size).toBe(3);
});

function version(oneroster: string): string {
  return `propertyName,value\nmanifest.version,1.0\noneroster.version,${oneroster}\n`;
}

it.each([
  ['no zip file', Buffer.from('users.csv'), /zip/i],
  [
    'a zip file of something else',
    Buffer.from(zipSync({ 'a.txt': strToU8('x') })),
    /none of the files users/,
  ],
  [
    'a broken row',
    Buffer.from(zipSync({ 'users.csv': strToU8('sourcedId,username\n1,2,3\n') })),
    /users\.csv, row 2/,
  ],
])('refuses %s', async (_what, bytes, reason) => {
  const file = path.join(folder, 'wrong.zip');
  await writeFile(file, bytes);
  await expect(readBundle(file, ['users', 'roles'])).rejects.toThrow(reason);
});
