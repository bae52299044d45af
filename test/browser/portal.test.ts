/** The portal as each role uses it, in a real browser, on a demo school. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it, jest } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { eventually } from '../eventually.js';
import { logIn, logOut, nextToken, PHONE, usePages } from './use-pages.js';
import { expectWellMade } from './well-made.js';

jest.setTimeout(60_000);

const gateway = useDemoGateway({ students: 120 }, { MAX_RECORDS_PER_WRITE: '3000' });
const pages = usePages(gateway);

/** The pages that everybody has, and what is on them when they are there. */
const PAGES: readonly (readonly [path: string, heading: string])[] = [
  ['/', 'Home'],
  ['/portal/records', 'Records'],
  ['/portal/reports', 'Reports'],
  ['/portal/reports/strength?tab=chart', 'Strength by class and gender'],
  ['/portal/reports/daily-fee-collection?run=1&tab=request', 'Daily fee collection by head'],
  ['/portal/nowhere', 'There is no such page'],
];

async function setRoles(userName: string, roles: readonly string[]): Promise<void> {
  const found = await gateway.fetch(`/o/recs/pltf_user?oquery=user_name=${userName}`, { as: 'admin' });
  const [user] = (await found.json()) as readonly { readonly _id: string }[];
  const response = await gateway.fetch(`/o/recs/pltf_user/${user?._id}`, {
    method: 'PATCH',
    as: 'admin',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ roles }),
  });
  expect(response.status).toBe(200);
}

describe('a page of the portal', () => {
  it('is well made before the log-in', async () => {
    const page = await pages.open('/');
    await page.getByRole('button', { name: 'teacher', exact: true }).waitFor();
    await expectWellMade(page);
  });

  it('is well made, whichever it is', async () => {
    const page = await pages.openPortalAs('admin', '/');
    for (const [path, heading] of PAGES) {
      await page.goto(gateway.url + path);
      await page.getByRole('heading', { level: 1, name: heading }).waitFor();
      await expectWellMade(page);
    }
  });
});

describe('the shell of the portal', () => {
  it('goes on after a reload, at the page that the address names', async () => {
    const page = await pages.openPortalAs('viewer', '/portal/records?find=fee');
    await page.getByRole('heading', { name: 'Fee heads' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Fee heads' }).waitFor();
    expect(await page.getByRole('searchbox').inputValue()).toBe('fee');
  });

  it('shows a person what is theirs after another one has left', async () => {
    const page = await pages.openPortalAs('admin', '/portal/records');
    await page.getByText(/^\d+ collections that you may read/).waitFor();
    await logOut(page);
    await logIn(page, 'viewer');
    await page.getByRole('button', { name: 'Account of viewer' }).waitFor();
  });

  it('asks for the password when the session has ended, and then goes on with what was asked', async () => {
    const page = await pages.openPortalAs('admin', '/portal/reports');
    const token = await nextToken(page, () => page.reload());
    await page.getByRole('heading', { level: 1, name: 'Reports' }).waitFor();
    await gateway.fetch('/auth/logout', { method: 'POST', headers: { authorization: `Bearer ${token}` } });
    await page.getByRole('link', { name: 'Records' }).click();
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.getByLabel('Password').fill('demo-admin');
    await dialog.getByRole('button', { name: 'Log in', exact: true }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByText('A student of the school:').waitFor();
  });

  it('speaks Hindi, and goes on to after a reload', async () => {
    const page = await pages.openPortalAs('clerk', '/portal/records');
    await page.getByRole('button', { name: 'Language and colours' }).click();
    await page.getByRole('menuitemradio', { name: 'हिन्दी' }).click();
    await page.getByRole('heading', { level: 1, name: 'अभिलेख' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'अभिलेख' }).waitFor();
    expect(await page.evaluate(() => document.documentElement.lang)).toBe('hi');
    await expectWellMade(page);
  });

  it('says that it is offline, and that it is not any more', async () => {
    const page = await pages.openPortalAs('viewer', '/');
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    await page.context().setOffline(true);
    await page.getByText('You are offline.').waitFor();
    // This page was not loaded yet; what is around it stays.
    await page.getByRole('link', { name: 'Reports' }).click();
    await page.getByRole('alert').getByText('The gateway cannot be reached').waitFor();
    await page.context().setOffline(false);
    await page.getByText('You are offline.').waitFor({ state: 'hidden' });
  });
});

describe('the records of a collection', () => {
  it('are read on while one scrolls, in the order that is pressed, and not counted', async () => {
    const page = await pages.openPortalAs('viewer', '/portal/account');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.postData() ?? ''));
    await page.goto(`${gateway.url}/portal/records/attendance`);
    const grid = page.getByRole('region', { name: 'Student attendance' });
    await page.getByText('100 read so far; more as you scroll').waitFor();
    await grid.evaluate((element) => element.scrollTo(0, 100 * 38));
    await page.getByText('200 read so far; more as you scroll').waitFor();
    expect(await grid.getByRole('row').count()).toBeLessThan(80);
    const reads = asked.filter((body) => body.includes('GridRecords'));
    expect(reads.map((body) => JSON.parse(body).variables.first)).toEqual([100, 100]);
    const isCount = (body: string) => /totalCount|Aggregate|CountedRecords/.test(body);
    expect(asked.filter(isCount)).toEqual([]);
    await grid.getByRole('button', { name: 'Created' }).click();
    await grid.getByRole('button', { name: 'Created' }).click();
    await page.waitForURL(/sort=-created/);
    await grid
      .getByRole('link', { name: /^20 Nov 2026/ })
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Count', exact: true }).click();
    await page.getByText('10,000+').waitFor();
    // So a count on opening would have been noticed.
    expect(asked.some(isCount)).toBe(true);
    await expectWellMade(page);
  });

  it('are filtered by rows, which are the same as the text', async () => {
    const page = await pages.openPortalAs('viewer', '/portal/records/registration');
    await page.getByRole('button', { name: 'Filter' }).click();
    const dialog = page.getByRole('dialog', { name: 'Filter' });
    await dialog.getByRole('button', { name: 'Add a condition' }).click();
    await dialog.getByLabel('Field of condition 1').fill('Class');
    await page.getByRole('option', { name: 'Class', exact: true }).click();
    await dialog.getByLabel('Value of condition 1').fill('5');
    expect(await dialog.getByLabel('As text (oquery)').inputValue()).toBe('class=5');
    await dialog.getByLabel('As text (oquery)').fill('class=5,section=A');
    expect(await dialog.getByLabel('Value of condition 2').inputValue()).toBe('A');
    await dialog.getByText('{"and":[{"class":{"equals":"5"}},{"section":{"equals":"A"}}]}').waitFor();
    await expectWellMade(page);
    await dialog.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.waitForURL(/oquery=class%3D5%2Csection%3DA/);
    const classes = page.getByRole('row').locator('td:nth-child(3)');
    await classes.first().waitFor();
    expect(new Set(await classes.allTextContents())).toEqual(new Set(['5']));
    const started = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByRole('menuitem', { name: 'CSV' }).click();
    const lines = (await readFile(await (await started).path(), 'utf8')).trimEnd().split('\r\n');
    expect(lines.length - 1).toBe(await classes.count());
  });

  it('say why they are not exported to who lost the right meanwhile', async () => {
    const page = await pages.openPortalAs('viewer', '/portal/records/class');
    await page.getByRole('button', { name: 'Export' }).click();
    await setRoles('viewer', ['nobody']);
    try {
      await page.getByRole('menuitem', { name: 'CSV' }).click();
      await page
        .locator('.mantine-Notification-root')
        .getByText(/may not/)
        .waitFor();
    } finally {
      await setRoles('viewer', ['viewer']);
    }
  });

  it('are not removed together where there are more than one request may write', async () => {
    const page = await pages.openPortalAs('admin', '/portal/records/attendance');
    await page.getByRole('checkbox', { name: 'Choose all that are read' }).check();
    await page.getByRole('button', { name: 'Choose all that the filter leaves' }).click();
    await page.getByRole('group', { name: 'What is chosen' }).getByRole('button', { name: 'Remove' }).click();
    const dialog = page.getByRole('dialog', { name: 'Remove these records?' });
    await dialog.getByText('More than 3,000 records of Student attendance match').waitFor();
    expect(await dialog.getByRole('button', { name: /^Remove/ }).isDisabled()).toBe(true);
  });

  it('say in the words of the gateway what is wrong with a filter', async () => {
    const page = await pages.openPortalAs('viewer', '/portal/records/registration?oquery=class');
    const problem = page.getByRole('alert');
    await problem.getByText('an operator that begins with').waitFor();
    await problem.getByText(/MALFORMED_FILTER · Request/).waitFor();
    await expectWellMade(page);
  });
});

describe('a record', () => {
  it('is made, changed, taken back field by field, removed and brought back', async () => {
    const page = await pages.openPortalAs('admin', '/portal/records/task');
    await page.getByRole('link', { name: 'New record' }).click();
    await page.getByLabel('Name').fill('<img src=x onerror=alert(1)> the gate');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: '<img src=x onerror=alert(1)> the gate' }).waitFor();
    await page.getByLabel('Amount').fill('1200.5');
    await page.getByRole('combobox', { name: 'Manager' }).fill('a');
    await page.getByRole('option').first().click();
    await expectWellMade(page);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    await page.getByRole('tab', { name: 'History' }).click();
    await page.getByText('1,200.5').waitFor();
    await expectWellMade(page);
    await page.getByRole('button', { name: 'Bring back Amount from before' }).click();
    await page.getByText('Version 3', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.getByText(/^1 record of Tasks is removed: <img/).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('This record was removed').waitFor();
    await page.getByRole('button', { name: 'Back to version 2' }).click();
    await page.getByRole('button', { name: 'Bring it back' }).click();
    await page.getByRole('tab', { name: 'Fields' }).click();
    expect(await page.getByLabel('Amount').inputValue()).toContain('1,200.5');
  });

  it('shows both when somebody else changed it, and keeps what is not saved over a reload', async () => {
    const id = await makeTask('Two people');
    const page = await pages.openPortalAs('admin', `/portal/records/task/${id}`);
    await page.getByLabel('Name').fill('Mine');
    await page.getByText('1 field not saved yet').waitFor();
    await page.reload();
    expect(await page.getByLabel('Name').inputValue()).toBe('Mine');
    await change(id, { name: 'Theirs', amount: 7 });
    await page.getByRole('button', { name: 'Save' }).click();
    const dialog = page.getByRole('dialog', { name: 'Somebody else has changed this record meanwhile' });
    await dialog.getByText('It was: Two people').waitFor();
    await expectWellMade(page);
    await dialog.getByRole('radio', { name: 'Theirs: Theirs' }).check();
    await dialog.getByRole('button', { name: 'Save what I chose' }).click();
    await page.getByRole('heading', { level: 1, name: 'Theirs' }).waitFor();
    await page.getByLabel('Name').fill('Mine after all');
    await change(id, { amount: 8 });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('They changed other fields than you.').waitFor();
    await page.getByRole('button', { name: 'Save what I chose' }).click();
    await page.getByRole('heading', { level: 1, name: 'Mine after all' }).waitFor();
    expect(await page.getByLabel('Amount').inputValue()).toContain('8');
  });

  it('keeps every digit of a number, over a reload and into the record', async () => {
    const id = await makeTask('Digits');
    const amount = async () =>
      await (await gateway.fetch(`/o/recs/task/${id}?project=amount`, { as: 'admin' })).text();
    const patch = { method: 'PATCH', as: 'admin', headers: { 'content-type': 'application/json' } } as const;
    await gateway.fetch(`/o/recs/task/${id}`, { ...patch, body: '{"amount": 9007199254740993.25}' });
    const page = await pages.openPortalAs('admin', `/portal/records/task/${id}`);
    expect((await page.getByLabel('Amount').inputValue()).replaceAll(',', '')).toContain(
      '9007199254740993.25',
    );
    await page.getByLabel('Amount').fill('123456789012345678901');
    await page.getByText('1 field not saved yet').waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    expect(await amount()).toContain('123456789012345678901');
    await page.getByRole('tab', { name: 'History' }).click();
    await page.getByText('9007199254740993.25').first().waitFor();
  });

  it('is saved when the gateway is back that went away in the middle of it', async () => {
    const id = await makeTask('Cut off');
    const page = await pages.openPortalAs('admin', `/portal/records/task/${id}`);
    await page.getByLabel('Name').fill('Kept while it was away');
    // As a browser sees it while the gateway is started anew.
    await page.route('**/graphql', (route) => route.abort('connectionrefused'));
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').getByText('The gateway cannot be reached').waitFor();
    expect(await page.getByLabel('Name').inputValue()).toBe('Kept while it was away');
    await page.unroute('**/graphql');
    await page.reload();
    expect(await page.getByLabel('Name').inputValue()).toBe('Kept while it was away');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    await page.getByRole('heading', { level: 1, name: 'Kept while it was away' }).waitFor();
  });

  it('is saved after the session has ended in the middle of it', async () => {
    const id = await makeTask('Interrupted');
    const page = await pages.openPortalAs('admin', '/');
    const token = await nextToken(page, () => page.goto(`${gateway.url}/portal/records/task/${id}`));
    await page.getByLabel('Name').fill('Saved after all');
    await gateway.fetch('/auth/logout', { method: 'POST', headers: { authorization: `Bearer ${token}` } });
    await page.getByRole('button', { name: 'Save' }).click();
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.getByLabel('Password').fill('demo-admin');
    await dialog.getByRole('button', { name: 'Log in', exact: true }).click();
    await page.getByText('Saved.').waitFor();
    await page.getByRole('heading', { level: 1, name: 'Saved after all' }).waitFor();
  });

  it('has its files, and what points to it', async () => {
    const page = await pages.openPortalAs('admin', '/portal/records/registration/stu-00001?tab=files');
    await page.getByText('No files').waitFor();
    const chosen = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Add a file' }).click();
    await (await chosen).setFiles({
      name: 'marks.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('all A'),
    });
    await page.getByRole('cell', { name: 'marks.txt', exact: true }).waitFor();
    await expectWellMade(page);
    const started = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download marks.txt' }).click();
    expect(await readFile(await (await started).path(), 'utf8')).toBe('all A');
    const actions = { name: /marks\.txt/ };
    expect(await page.getByRole('button', actions).count()).toBe(2);
    const clerk = await pages.openPortalAs('clerk', '/portal/records/registration/stu-00001?tab=files');
    await clerk.getByRole('cell', { name: 'marks.txt', exact: true }).waitFor();
    expect(await clerk.getByRole('button', actions).count()).toBe(1);
    await page.getByRole('tab', { name: 'Points here' }).click();
    await page
      .getByRole('link', { name: /2026, .* · (present|absent|leave)$/ })
      .first()
      .waitFor();
    await page.getByRole('link', { name: 'Show all in Student attendance' }).click();
    await page.waitForURL(/oquery=student.value%3Dstu-00001/);
    await page.getByRole('region', { name: 'Student attendance' }).waitFor();
  });

  it('is made without what the gateway fills in by itself', async () => {
    const page = await pages.openPortalAs('accountant', '/portal/records/fee_concession/new');
    await page.getByRole('combobox', { name: 'Name' }).fill('a');
    await page.getByRole('option').first().click();
    await page.getByRole('combobox', { name: 'Kind' }).click();
    await page.getByRole('option', { name: 'percent', exact: true }).click();
    await page.getByLabel('Value').fill('10');
    await page.getByLabel('Session').fill('2026-27');
    await page.getByLabel('From month').fill('2026-12');
    await page.getByLabel('To month').fill('2027-03');
    await page.getByText('Left empty: when it is saved.').waitFor();
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('tab', { name: 'History' }).waitFor();
    expect(await page.getByLabel('Created on').inputValue()).not.toBe('');
  });

  it('is only read by who may not change it', async () => {
    const page = await pages.openPortalAs('viewer', '/portal/records/registration/stu-00001');
    await page.getByText('You may read this record, not change it.').waitFor();
    expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0);
    await page.goto(`${gateway.url}/portal/records/fee_receipt/rcp-0000001`);
    await page
      .getByRole('alert')
      .getByText(/Request/)
      .waitFor();
  });
});

async function makeTask(name: string): Promise<string> {
  const response = await gateway.fetch('/o/task', {
    method: 'POST',
    as: 'admin',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name }),
  });
  return ((await response.json()) as { readonly _id: string })._id;
}

async function change(id: string, fields: Readonly<Record<string, unknown>>): Promise<void> {
  const response = await gateway.fetch(`/o/recs/task/${id}`, {
    method: 'PATCH',
    as: 'admin',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(fields),
  });
  expect(response.status).toBe(200);
}

interface DaySheet {
  readonly rows: readonly { readonly status: string; readonly phone: string | null }[];
  readonly totals: { readonly absent: number };
}

describe('the dashboard', () => {
  it.each([
    [
      'admin',
      ['Students present', 'Collected on the day', 'Outstanding by age', 'Leave to decide', 'Strength'],
    ],
    ['accountant', ['Collected on the day', 'Collected by fee head', 'Outstanding by age', 'Fee defaulters']],
    ['teacher', ['Students present', 'Absentees', 'Short of attendance', 'Results by term']],
  ])('of %s has what their rights allow', async (role, tiles) => {
    const page = await pages.openPortalAs(role, '/');
    for (const tile of tiles) await page.getByRole('region', { name: tile, exact: true }).waitFor();
    const isOfFees = await page.getByRole('region', { name: 'Collected on the day' }).count();
    expect(isOfFees > 0).toBe(role !== 'teacher');
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  it('names who is absent, with the phone to call', async () => {
    const page = await pages.openPortalAs('admin', '/');
    const absentees = page.getByRole('region', { name: 'Absentees', exact: true });
    const call = absentees.getByRole('link', { name: /^\+91/ }).first();
    const phone = await call.textContent();
    expect(await call.getAttribute('href')).toBe(`tel:${phone}`);
    const sheet = await gateway.fetch('/graphql', {
      method: 'POST',
      as: 'admin',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        query: '{ daySheet(date: "2026-11-20", first: 20) { rows { status phone } totals { absent } } }',
      }),
    });
    const { rows, totals } = ((await sheet.json()) as { data: { daySheet: DaySheet } }).data.daySheet;
    expect(await absentees.locator('.figure-value').textContent()).toBe(String(totals.absent));
    expect(rows.find(({ status }) => status === 'absent')?.phone).toBe(phone);
  });

  it('is told of a change while it is shown, and leads to the report with the same filter', async () => {
    const page = await pages.openPortalAs('admin', '/');
    const strength = page.getByRole('region', { name: 'Strength', exact: true });
    await strength.locator('canvas').waitFor();
    await expectWellMade(page);
    const before = Number(await strength.locator('.figure-value').textContent());
    const student = await gateway.fetch('/o/recs/registration/stu-00001', { as: 'admin' });
    const { _id, sequence, roll_no, ...fields } = (await student.json()) as Record<string, unknown>;
    const made = await gateway.fetch('/o/registration', {
      method: 'POST',
      as: 'admin',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...fields, sequence: 'GV-99999' }),
    });
    expect(made.status).toBe(201);
    await strength.getByText(String(before + 1), { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Open: Students present' }).click();
    await page.waitForURL(/\/portal\/reports\/day-sheet\?date=2026-11-20/);
    await page.getByText('Marked').waitFor();
  });

  it('draws a chart when it comes near, and all for the printer', async () => {
    const page = await pages.openPortalAs('admin', '/', { viewport: PHONE });
    const last = page.getByRole('region', { name: 'Strength', exact: true }).locator('canvas');
    await last.waitFor();
    const first = page.getByRole('region', { name: 'Students present' }).locator('canvas');
    await eventually(() => isDrawn(first));
    expect(await isDrawn(last)).toBe(false);
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    expect(await isDrawn(last)).toBe(true);
    await page.evaluate(() => dispatchEvent(new Event('afterprint')));
    await last.scrollIntoViewIfNeeded();
    await eventually(() => isDrawn(last));
  });
});

describe('a report', () => {
  it('is run by its form, and the same as files', async () => {
    const page = await pages.openPortalAs('accountant', '/portal/reports');
    await page.getByRole('link', { name: /^Daily fee collection by head/ }).click();
    await page.getByLabel('From').fill('2026-11-16');
    await page.getByRole('combobox', { name: 'Date basis' }).click();
    await page.getByRole('option', { name: 'Day book' }).click();
    await page.getByRole('button', { name: 'Run' }).click();
    await page.waitForURL(/from=2026-11-16.*dateBasis=DAY_BOOK/);
    const rows = page.getByRole('region', { name: 'Daily fee collection by head' }).getByRole('row');
    await rows.nth(1).waitFor();
    await expectWellMade(page);
    const started = page.waitForEvent('download');
    await page.getByRole('button', { name: 'CSV file' }).click();
    const text = await readFile(await (await started).path(), 'utf8');
    expect(text).toContain('2026-11-16');
    await page.getByRole('tab', { name: 'Request' }).click();
    await page
      .getByText(/report=daily-fee-collection&from=2026-11-16&.*payment_type=all&date_basis=DAY_BOOK/)
      .waitFor();
    await page.getByRole('tab', { name: 'Chart' }).click();
    await page.getByRole('img', { name: 'Daily fee collection by head: Total by Day' }).waitFor();
    await expectWellMade(page);
  });

  it('finds by name whom it is about, and tells it again from the address', async () => {
    const page = await pages.openPortalAs('admin', '/portal/reports/teacher-attendance');
    await page.getByRole('combobox', { name: 'User' }).fill('a');
    const person = page.getByRole('option').first();
    const name = (await person.textContent()) ?? '';
    await person.click();
    await page.getByRole('button', { name: 'Run' }).click();
    await page.waitForURL(/userId=usr-/);
    await page.getByRole('region').getByRole('row').nth(1).waitFor();
    await page.reload();
    await page.waitForFunction(
      (told) => document.querySelector<HTMLInputElement>('.parameters input')?.value === told,
      name,
    );
    await page.goto(`${gateway.url}/portal/reports/student`);
    const student = page.getByRole('combobox', { name: 'Admission no' });
    await student.fill('GV-010');
    await page.getByRole('option', { name: /GV-01001/ }).waitFor();
    await student.fill('no such student');
    await page.getByRole('option', { name: 'no such student', exact: true }).waitFor();
    expect(await page.getByRole('option').count()).toBe(1);
    await page.keyboard.press('Escape');
    await expectWellMade(page);
  });

  it('by month is drawn by months, with money in its currency', async () => {
    const asked = 'interval=MONTH&from=2026-04-01&to=2026-11-20&tab=chart';
    const page = await pages.openPortalAs('accountant', `/portal/reports/collection-trend?${asked}`);
    await page.getByRole('img', { name: 'Collection trend: Total by Start' }).waitFor();
    await page.getByRole('rowheader', { name: 'Apr 2026', exact: true }).waitFor({ state: 'attached' });
  });

  it('says in the words of the gateway what it cannot be about', async () => {
    const page = await pages.openPortalAs('accountant', '/portal/reports/strength?session=2199-00&run=1');
    await page
      .getByRole('alert')
      .getByText(/Request/)
      .waitFor();
  });

  it('stands before the form on a phone, which is opened by who asks for something else', async () => {
    const page = await pages.openPortalAs(
      'accountant',
      '/portal/reports/fee-defaulters?run=1&startMonth=2026-04&endMonth=2026-11',
      { viewport: PHONE },
    );
    await page.getByText('Start month: Apr 2026 · End month: Nov 2026').waitFor();
    expect(await page.getByRole('button', { name: 'Run' }).count()).toBe(0);
    const change = page.getByRole('button', { name: 'Change' });
    await change.press('Enter');
    await page.getByRole('textbox', { name: 'Minimum' }).fill('5000');
    await page.getByRole('button', { name: 'Run' }).press('Enter');
    await page.getByText('End month: Nov 2026 · Minimum: 5000').waitFor();
    expect(await change.getAttribute('aria-expanded')).toBe('false');
    expect(await focused(page)).toBe('Change');
  });

  it('is not there for who may not run it, by its address either', async () => {
    const page = await pages.openPortalAs('teacher', '/portal/reports/fee-summary');
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
  });
});

describe('a page that is not for a role', () => {
  const OF_ADMINS = [
    ...['people', 'people/usr-admin', 'collections', 'collections/registration', 'scripts', 'messages'],
    ...['files', 'settings', 'audit', 'health', 'imports', 'imports/none'],
  ].map((name) => `/portal/${name}`);

  it.each(['accountant', 'teacher', 'clerk', 'viewer'] as const)(
    'asks for nothing and says so to %s',
    async (role) => {
      // Another test has chosen Hindi for one of them.
      await gateway.fetch('/graphql', {
        method: 'POST',
        as: role,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: 'mutation { setLanguage(language: "en") }' }),
      });
      const page = await pages.openPortalAs(role, '/portal/account');
      await page.getByRole('heading', { level: 1, name: 'My account' }).waitFor();
      const menu = await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').all();
      const addresses = await Promise.all(menu.map((link) => link.getAttribute('href')));
      await page.waitForLoadState('networkidle');
      const asked: string[] = [];
      page.on('request', (request) => asked.push(new URL(request.url()).pathname));
      for (const path of OF_ADMINS) {
        expect(addresses).not.toContain(path);
        await goWithin(page, path);
        await page.getByText('This page is not for your role').waitFor();
        // What would be left of this refusal is not to be taken for the next.
        await goWithin(page, '/portal/nowhere');
        await page.getByText('There is no such page').waitFor();
      }
      expect(asked.filter((path) => !path.startsWith('/portal/assets/'))).toEqual([]);
    },
  );
});

describe('the keyboard in the portal', () => {
  it('skips to the page, and follows to the heading of the next one', async () => {
    const page = await pages.openPortalAs('viewer', '/');
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Skip to the page');
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('content');
    await page.keyboard.press('g');
    await page.keyboard.press('r');
    await page.getByRole('heading', { level: 1, name: 'Records' }).waitFor();
    expect(await focused(page)).toBe('Records');
    expect(await page.title()).toBe('Records · Campus Gateway');
    await page.keyboard.press('/');
    await page.keyboard.type('fee h');
    await page.getByRole('heading', { name: 'Fee heads' }).waitFor();
    expect(await page.getByRole('heading', { level: 2 }).count()).toBe(1);
  });

  it('shows its keys, which can be switched off', async () => {
    const page = await pages.openPortalAs('viewer', '/');
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    await page.keyboard.press('?');
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await help.getByRole('switch', { name: 'Use these keys' }).press('Space');
    await page.keyboard.press('Escape');
    await help.waitFor({ state: 'hidden' });
    await page.keyboard.press('g');
    await page.keyboard.press('r');
    await page.keyboard.press('?');
    expect(await help.count()).toBe(0);
    expect(new URL(page.url()).pathname).toBe('/');
  });

  it('opens and closes the menu of a phone', async () => {
    const page = await pages.openPortalAs('viewer', '/', { viewport: { width: 360, height: 740 } });
    await page.getByRole('button', { name: 'Open the menu' }).press('Enter');
    const menu = page.getByRole('dialog');
    await menu.getByRole('link', { name: 'Records' }).press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Records' }).waitFor();
    await menu.waitFor({ state: 'hidden' });
  });
});

/** As a link of the page does: nothing is loaded anew. */
async function goWithin(page: Page, address: string): Promise<void> {
  await page.evaluate((to) => {
    history.pushState(null, '', to);
    dispatchEvent(new PopStateEvent('popstate'));
  }, address);
}

async function isDrawn(canvas: Locator): Promise<boolean> {
  return await canvas.evaluate((element) => {
    const { width, height } = element as HTMLCanvasElement;
    const drawn = (element as HTMLCanvasElement).getContext('2d')?.getImageData(0, 0, width, height).data;
    return drawn?.some((value) => value > 0) ?? false;
  });
}

async function focused(page: Page): Promise<string | null | undefined> {
  return await page.evaluate(() => document.activeElement?.textContent);
}
