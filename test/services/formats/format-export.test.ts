/** Formats of other programs, file by file, from a school of a few records written by hand. */
import path from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { JsonObject, JsonValue } from '../../../src/base/json/json.js';
import { type Scope, systemPrincipal } from '../../../src/base/model/scope.js';
import { FormatExport } from '../../../src/services/formats/format-export.js';
import { readFormatMapping } from '../../../src/services/formats/format-mapping.js';
import { Catalog } from '../../../src/store/catalog/catalog.js';
import { RecordStore } from '../../../src/store/record-store.js';
import { useTestDatabase } from '../../database.js';
import { declaredTemplate } from '../../declared-template.js';

const DECLARATIONS = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../../schema/collections');
const SCHOOL = { id: 'gv', name: 'Gyan "Vidya"', parentId: undefined, timeZone: 'Asia/Kolkata' };
const SCOPE: Scope = {
  domain: SCHOOL,
  principal: systemPrincipal('test', ['admin', 'system'], SCHOOL.id),
  call: { requestId: 'test' },
};

const test = useTestDatabase({ template: declaredTemplate });
let catalog: Catalog;
let store: RecordStore;

const PLACE = { class: '5', section: 'A', session: '2026-27', admitted_on: '2022-04-01', status: 'active' };
const RECORDS: Readonly<Record<string, readonly JsonObject[]>> = {
  class: [
    {
      ...{ _id: 'cls-5', name: '5', category: 'Primary', order: 5 },
      sections: [
        { name: 'A', room: '12', class_teacher: { value: 'usr-meena', label: 'Meena Iyer' } },
        { name: 'B' },
      ],
    },
  ],
  registration: [
    {
      ...{ _id: 'stu-1', ...PLACE, sequence: 'GV-1', name: 'Ananya Sharma', gender: 'female' },
      ...{ dob: '2015-09-14', father_name: 'Rajesh Sharma', mother_name: 'Sunita Sharma', roll_no: 7 },
      ...{ guardian_phone: '+919123456789', email: 'r@mail.example', category: 'OBC' },
      address: '14, Gandhi Road, Nagpur 440010',
    },
    { _id: 'stu-2', ...PLACE, sequence: 'GV-2', name: 'Bilal', section: 'B', gender: 'male' },
    { _id: 'stu-3', ...PLACE, sequence: 'GV-3', name: 'Gone Girl', status: 'withdrawn' },
  ],
  pltf_user: [
    {
      ...{ _id: 'usr-meena', user_name: 'meena', name: 'Meena Iyer', active: true, employee_code: 'E1' },
      ...{ roles: ['teacher', 'clerk'], joined_on: '2018-06-11' },
    },
    { _id: 'usr-old', user_name: 'old', name: 'Old Hand', active: false, roles: ['admin'] },
  ],
  fee_receipt: [
    {
      ...{ _id: 'rcp-1', receipt_no: 'R-1', date: '2026-07-05T20:12:00.000Z', payment_type: 'cheque' },
      ...{ class: '5', section: 'A', session: '2026-27', instrument_no: '004217', status: 'active' },
      student: { value: 'stu-1', label: 'Ananya & Sharma' },
      lines: [
        { fee_head: 'Tuition', month: '2026-07', amount: 2500.5, fine: 50 },
        { fee_head: 'Bus', month: '2026-07', amount: 1000 },
      ],
      total: 3550.5,
    },
    {
      ...{ _id: 'rcp-2', receipt_no: 'R-2', date: '2026-07-06T05:00:00.000Z', payment_type: 'cash' },
      ...{ class: '5', section: 'B', session: '2026-27', status: 'rolled_back' },
      student: { value: 'stu-2', label: 'Bilal' },
      lines: [{ fee_head: 'Tuition', month: '2026-07', amount: 100 }],
      total: 100,
    },
  ],
};

beforeAll(async () => {
  const { database } = test;
  catalog = await Catalog.load({ database, directory: DECLARATIONS, domains: () => [SCHOOL] });
  store = new RecordStore({ database, catalog, topDomain: () => SCHOOL });
  for (const name of ['pltf_user', 'class', 'registration', 'fee_receipt']) {
    await store.create(SCOPE, name, RECORDS[name] ?? []);
  }
});

afterAll(async () => {
  await catalog?.close();
});

const NOW = new Date('2026-11-20T04:30:00.000Z');
const PROPERTIES: Readonly<Record<string, JsonValue>> = { udiseCode: '27090100101', tallyCompany: 'GV & Co' };

async function exported(as: string, since?: string) {
  const work = new FormatExport(await readFormatMapping(as), {
    ...{ store, scope: SCOPE, since, now: NOW, signal: new AbortController().signal },
    context: {
      domain: SCHOOL,
      property: (name) => PROPERTIES[name],
      ...{ session: '2026-27', sessionFirstMonth: 4 },
    },
  });
  const files: Record<string, string> = {};
  for await (const { path: name, content } of work.files()) files[name] = await text(Readable.from(content));
  const report = work.report((collection) => catalog.get(collection).fields.map(({ name }) => name));
  return { files, report };
}

/** The rows of a CSV as objects, without what is empty. */
function rowsOf(csv: string | undefined): readonly Record<string, string>[] {
  const [heading = '', ...lines] = (csv ?? '').trimEnd().split('\r\n');
  const names = heading.split(',');
  return lines.map((line) => {
    const cells = line.match(/("([^"]|"")*"|[^,]*)(,|$)/g)?.map((cell) => cell.replace(/,$/, '')) ?? [];
    const entries = names.map((name, index) => [name, cells[index] ?? ''] as const);
    return Object.fromEntries(entries.filter(([, cell]) => cell !== ''));
  });
}

describe('oneroster', () => {
  it('writes each file with the columns of the binding, in their order', async () => {
    const { files } = await exported('oneroster');
    const headings = Object.fromEntries(
      Object.entries(files).map(([name, content]) => [name, content.split('\r\n')[0]]),
    );
    expect(headings).toEqual({
      'orgs.csv': 'sourcedId,status,dateLastModified,name,type,identifier,parentSourcedId',
      'academicSessions.csv':
        'sourcedId,status,dateLastModified,title,type,startDate,endDate,parentSourcedId,schoolYear',
      'courses.csv':
        'sourcedId,status,dateLastModified,schoolYearSourcedId,title,courseCode,grades,orgSourcedId,' +
        'subjects,subjectCodes',
      'classes.csv':
        'sourcedId,status,dateLastModified,title,grades,courseSourcedId,classCode,classType,location,' +
        'schoolSourcedId,termSourcedIds,subjects,subjectCodes,periods',
      'users.csv':
        'sourcedId,status,dateLastModified,enabledUser,username,userIds,givenName,familyName,middleName,' +
        'identifier,email,sms,phone,agentSourcedIds,grades,password,userMasterIdentifier,' +
        'resourceSourcedIds,preferredGivenName,preferredMiddleName,preferredFamilyName,' +
        'primaryOrgSourcedId,pronouns',
      'roles.csv':
        'sourcedId,status,dateLastModified,userSourcedId,roleType,role,beginDate,endDate,orgSourcedId,' +
        'userProfileSourcedId',
      'enrollments.csv':
        'sourcedId,status,dateLastModified,classSourcedId,schoolSourcedId,userSourcedId,role,primary,' +
        'beginDate,endDate',
      'demographics.csv':
        'sourcedId,status,dateLastModified,birthDate,sex,americanIndianOrAlaskaNative,asian,' +
        'blackOrAfricanAmerican,nativeHawaiianOrOtherPacificIslander,white,demographicRaceTwoOrMoreRaces,' +
        'hispanicOrLatinoEthnicity,countryOfBirthCode,stateOfBirthAbbreviation,cityOfBirth,' +
        'publicSchoolResidenceStatus',
      'manifest.csv': 'propertyName,value',
    });
  });

  it('writes all that is there in bulk', async () => {
    const { files, report } = await exported('oneroster');
    expect(rowsOf(files['orgs.csv'])).toEqual([
      { sourcedId: 'org-gv', name: '"Gyan ""Vidya"""', type: 'school', identifier: '27090100101' },
    ]);
    expect(rowsOf(files['academicSessions.csv'])).toEqual([
      {
        ...{ sourcedId: 'session-2026-27', title: '2026-27', type: 'schoolYear' },
        ...{ startDate: '2026-04-01', endDate: '2027-03-31', schoolYear: '2027' },
      },
      {
        ...{ sourcedId: 'term-2026-27', title: '2026-27', type: 'term' },
        ...{ startDate: '2026-04-01', endDate: '2027-03-31', schoolYear: '2027' },
        parentSourcedId: 'session-2026-27',
      },
    ]);
    expect(rowsOf(files['classes.csv'])).toEqual([
      {
        ...{ sourcedId: 'class-5-A', title: '5 A', grades: '05', courseSourcedId: 'course-5' },
        ...{ classCode: '5-A', classType: 'homeroom', location: '12', schoolSourcedId: 'org-gv' },
        termSourcedIds: 'term-2026-27',
      },
      {
        ...{ sourcedId: 'class-5-B', title: '5 B', grades: '05', courseSourcedId: 'course-5' },
        ...{ classCode: '5-B', classType: 'homeroom', schoolSourcedId: 'org-gv' },
        termSourcedIds: 'term-2026-27',
      },
    ]);
    expect(rowsOf(files['users.csv'])).toEqual([
      {
        ...{ sourcedId: 'stu-1', enabledUser: 'true', username: 'GV-1', givenName: 'Ananya' },
        ...{ familyName: 'Sharma', identifier: 'GV-1', email: 'r@mail.example', sms: '+919123456789' },
        ...{ phone: '+919123456789', grades: '05', primaryOrgSourcedId: 'org-gv' },
      },
      {
        ...{ sourcedId: 'stu-2', enabledUser: 'true', username: 'GV-2', givenName: 'Bilal' },
        ...{ identifier: 'GV-2', grades: '05', primaryOrgSourcedId: 'org-gv' },
      },
      {
        ...{ sourcedId: 'usr-meena', enabledUser: 'true', username: 'meena', givenName: 'Meena' },
        ...{ familyName: 'Iyer', identifier: 'E1', primaryOrgSourcedId: 'org-gv' },
      },
    ]);
    expect(
      rowsOf(files['roles.csv']).map(({ userSourcedId, roleType, role }) => [userSourcedId, roleType, role]),
    ).toEqual([
      ['stu-1', 'primary', 'student'],
      ['stu-2', 'primary', 'student'],
      ['usr-meena', 'primary', 'teacher'],
      ['usr-meena', 'secondary', 'ext:clerk'],
    ]);
    expect(rowsOf(files['enrollments.csv'])).toEqual([
      {
        ...{ sourcedId: 'enrollment-stu-1', classSourcedId: 'class-5-A', schoolSourcedId: 'org-gv' },
        ...{ userSourcedId: 'stu-1', role: 'student', primary: 'false' },
      },
      {
        ...{ sourcedId: 'enrollment-stu-2', classSourcedId: 'class-5-B', schoolSourcedId: 'org-gv' },
        ...{ userSourcedId: 'stu-2', role: 'student', primary: 'false' },
      },
      {
        ...{ sourcedId: 'enrollment-5-A-teacher', classSourcedId: 'class-5-A', schoolSourcedId: 'org-gv' },
        ...{ userSourcedId: 'usr-meena', role: 'teacher', primary: 'true' },
      },
    ]);
    expect(rowsOf(files['demographics.csv'])).toEqual([
      { sourcedId: 'stu-1', birthDate: '2015-09-14', sex: 'female' },
      { sourcedId: 'stu-2', sex: 'male' },
    ]);
    expect(rowsOf(files['manifest.csv'])).toEqual(
      expect.arrayContaining([
        { propertyName: 'manifest.version', value: '1.0' },
        { propertyName: 'oneroster.version', value: '1.2' },
        { propertyName: 'file.users', value: 'bulk' },
        { propertyName: 'file.results', value: 'absent' },
      ]),
    );
    expect(rowsOf(files['manifest.csv'])).toHaveLength(25);
    // Who has one word for a name is told, and what our records have nothing for.
    expect(report.readiness.lacks).toEqual([
      {
        ...{ file: 'users', collection: 'registration', id: 'stu-2', label: '', column: 'familyName' },
        ...{ value: '', expected: 'a value' },
      },
    ]);
    expect(report.homeless).toContainEqual({
      ...{ file: 'users', column: 'agentSourcedIds' },
      because: 'Parents are names in the registration, no users.',
    });
    expect(report.notCarried.get('registration')).toEqual([
      ...['roll_no', 'father_name', 'mother_name', 'address', 'category', 'route', 'earlier_stays'],
    ]);
  });

  it('points from file to file at rows that are there', async () => {
    const { files } = await exported('oneroster');
    const ids = (name: string) => new Set(rowsOf(files[`${name}.csv`]).map(({ sourcedId }) => sourcedId));
    const references = [
      ['classes', 'courseSourcedId', 'courses'],
      ['academicSessions', 'parentSourcedId', 'academicSessions'],
      ['classes', 'termSourcedIds', 'academicSessions'],
      ['enrollments', 'classSourcedId', 'classes'],
      ['enrollments', 'userSourcedId', 'users'],
      ['roles', 'userSourcedId', 'users'],
      ['demographics', 'sourcedId', 'users'],
    ] as const;
    for (const [file, column, target] of references) {
      const lost = rowsOf(files[`${file}.csv`]).filter(
        ({ [column]: id = '' }) => id !== '' && !ids(target).has(id),
      );
      expect({ file, column, lost }).toEqual({ file, column, lost: [] });
    }
  });

  it('writes what changed since as a delta, with who is there no more', async () => {
    const { rows } = await test.database.pool.query<{ now: string }>('select now()::text as now');
    await store.create(SCOPE, 'registration', [
      { _id: 'stu-4', ...PLACE, sequence: 'GV-4', name: 'Come And Gone', section: 'B' },
    ]);
    await test.database.pool.query(`update records set updated_at = '2020-01-01' where id not in ('stu-4')`);
    await store.update(SCOPE, 'registration', 'stu-2', { data: { status: 'withdrawn' }, mode: 'merge' });
    await store.delete(SCOPE, 'registration', 'stu-4', {});
    const { files } = await exported('oneroster', new Date(rows[0]?.now ?? '').toISOString());
    const at = NOW.toISOString();
    expect(rowsOf(files['users.csv'])).toEqual([
      expect.objectContaining({ sourcedId: 'stu-2', status: 'tobedeleted', dateLastModified: at }),
      expect.objectContaining({ sourcedId: 'stu-4', status: 'tobedeleted', givenName: 'Come And' }),
    ]);
    expect(rowsOf(files['enrollments.csv'])).toContainEqual(
      expect.objectContaining({
        ...{ sourcedId: 'enrollment-stu-4', status: 'tobedeleted', classSourcedId: 'class-5-B' },
      }),
    );
    expect(Object.keys(files)).not.toContain('courses.csv');
    expect(rowsOf(files['manifest.csv'])).toEqual(
      expect.arrayContaining([
        { propertyName: 'file.users', value: 'delta' },
        { propertyName: 'file.courses', value: 'absent' },
      ]),
    );
    await store.update(SCOPE, 'registration', 'stu-2', { data: { status: 'active' }, mode: 'merge' });
  });
});

describe('udise', () => {
  it('writes a row a student, and who lacks what', async () => {
    const { files, report } = await exported('udise');
    const [heading, first] = (files['udise-students.csv'] ?? '').split('\r\n');
    expect(heading?.split(',').slice(0, 9)).toEqual([
      ...['UDISE CODE OF SCHOOL', 'GRADE/CLASS', 'SECTION', 'ROLL NO', 'STUDENT NAME', 'GENDER'],
      ...['DOB (DD-MM-YYYY)', 'MOTHER NAME', 'FATHER NAME'],
    ]);
    expect(first).toBe(
      '27090100101,5,A,7,Ananya Sharma,2,14-09-2015,Sunita Sharma,Rajesh Sharma,,,,' +
        '"14, Gandhi Road, Nagpur 440010",440010,9123456789,,r@mail.example,,4,,,,2,,,,,GV-1,01-04-2022,,',
    );
    const lacking = report.readiness.lacks.map(({ label, column, expected }) => [label, column, expected]);
    expect(lacking).toEqual([
      ['GV-2', 'DOB (DD-MM-YYYY)', 'a day'],
      ['GV-2', 'MOTHER NAME', 'letters and single spaces, 3 to 50'],
      ['GV-2', 'FATHER NAME', 'letters and single spaces, 3 to 50'],
      ['GV-2', 'ADDRESS', 'a value'],
      ['GV-2', 'PINCODE', 'six digits at the end of the address'],
      ['GV-2', 'MOBILE NUMBER', 'ten digits, the first of them 6 to 9'],
      ['GV-2', 'SOCIAL CATEGORY', 'General, SC, ST or OBC'],
    ]);
    expect(report.homeless.map(({ column }) => column)).toContain('AADHAAR NO OF CHILD');
  });
});

describe('tally', () => {
  it('writes a receipt voucher each, debit and credit alike, the same at every export', async () => {
    const { files } = await exported('tally');
    const xml = files['tally-receipts.xml'] ?? '';
    expect(xml).toBe(TALLY);
    expect((await exported('tally')).files).toEqual(files);
    const vouchers = xml.split('<VOUCHER ').slice(1);
    for (const voucher of vouchers) {
      const amounts = [...voucher.matchAll(/<AMOUNT>(-?[\d.]+)<\/AMOUNT>/g)].map(([, amount]) =>
        Number(amount),
      );
      expect(amounts.reduce((sum, amount) => sum + amount, 0)).toBe(0);
    }
  });
});

it('reads a mapping of the caller, and says what is wrong with it', async () => {
  await expect(readFormatMapping('/nowhere.json')).rejects.toMatchObject({
    code: 'NOT_FOUND',
    message: '/nowhere.json is neither a format (oneroster, tally, udise) nor a file.',
  });
  await expect(
    readFormatMapping(fileURLToPath(new URL('../../../package.json', import.meta.url))),
  ).rejects.toThrow(/package\.json: \//);
});

const TALLY = `<?xml version="1.0" encoding="UTF-8"?>
<ENVELOPE>
<HEADER>
<TALLYREQUEST>Import Data</TALLYREQUEST>
</HEADER>
<BODY>
<IMPORTDATA>
<REQUESTDESC>
<REPORTNAME>Vouchers</REPORTNAME>
<STATICVARIABLES>
<SVCURRENTCOMPANY>GV &#38; Co</SVCURRENTCOMPANY>
</STATICVARIABLES>
</REQUESTDESC>
<REQUESTDATA>
<TALLYMESSAGE xmlns:UDF="TallyUDF">
<VOUCHER REMOTEID="campus-gv-rcp-1" VCHTYPE="Receipt" ACTION="Create" OBJVIEW="Accounting Voucher View">
<DATE>20260706</DATE>
<GUID>campus-gv-rcp-1</GUID>
<NARRATION>Fees of Ananya &#38; Sharma, 5 A, session 2026-27. cheque 004217</NARRATION>
<VOUCHERTYPENAME>Receipt</VOUCHERTYPENAME>
<VOUCHERNUMBER>R-1</VOUCHERNUMBER>
<PERSISTEDVIEW>Accounting Voucher View</PERSISTEDVIEW>
<ISCANCELLED>No</ISCANCELLED>
<ALLLEDGERENTRIES.LIST>
<LEDGERNAME>Tuition Fees</LEDGERNAME>
<ISDEEMEDPOSITIVE>No</ISDEEMEDPOSITIVE>
<AMOUNT>2500.50</AMOUNT>
</ALLLEDGERENTRIES.LIST>
<ALLLEDGERENTRIES.LIST>
<LEDGERNAME>Bus Fees</LEDGERNAME>
<ISDEEMEDPOSITIVE>No</ISDEEMEDPOSITIVE>
<AMOUNT>1000.00</AMOUNT>
</ALLLEDGERENTRIES.LIST>
<ALLLEDGERENTRIES.LIST>
<LEDGERNAME>Late Fees</LEDGERNAME>
<ISDEEMEDPOSITIVE>No</ISDEEMEDPOSITIVE>
<AMOUNT>50.00</AMOUNT>
</ALLLEDGERENTRIES.LIST>
<ALLLEDGERENTRIES.LIST>
<LEDGERNAME>Bank</LEDGERNAME>
<ISDEEMEDPOSITIVE>Yes</ISDEEMEDPOSITIVE>
<AMOUNT>-3550.50</AMOUNT>
</ALLLEDGERENTRIES.LIST>
</VOUCHER>
</TALLYMESSAGE>
<TALLYMESSAGE xmlns:UDF="TallyUDF">
<VOUCHER REMOTEID="campus-gv-rcp-2" VCHTYPE="Receipt" ACTION="Create" OBJVIEW="Accounting Voucher View">
<DATE>20260706</DATE>
<GUID>campus-gv-rcp-2</GUID>
<NARRATION>Fees of Bilal, 5 B, session 2026-27. cash</NARRATION>
<VOUCHERTYPENAME>Receipt</VOUCHERTYPENAME>
<VOUCHERNUMBER>R-2</VOUCHERNUMBER>
<PERSISTEDVIEW>Accounting Voucher View</PERSISTEDVIEW>
<ISCANCELLED>Yes</ISCANCELLED>
<ALLLEDGERENTRIES.LIST>
<LEDGERNAME>Tuition Fees</LEDGERNAME>
<ISDEEMEDPOSITIVE>No</ISDEEMEDPOSITIVE>
<AMOUNT>100.00</AMOUNT>
</ALLLEDGERENTRIES.LIST>
<ALLLEDGERENTRIES.LIST>
<LEDGERNAME>Cash</LEDGERNAME>
<ISDEEMEDPOSITIVE>Yes</ISDEEMEDPOSITIVE>
<AMOUNT>-100.00</AMOUNT>
</ALLLEDGERENTRIES.LIST>
</VOUCHER>
</TALLYMESSAGE>
</REQUESTDATA>
</IMPORTDATA>
</BODY>
</ENVELOPE>
`;
