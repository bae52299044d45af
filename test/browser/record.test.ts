/** The page of one record, in a real browser, on a demo school. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { useDemoGateway } from '../contract/demo-gateway.js';
import type { Role } from '../contract/gateway.js';
import { ask } from '../contract/graphql.js';
import { expectEventually } from '../expect-eventually.js';
import { nextToken, PHONE, usePages } from './use-pages.js';
import { expectWellMade } from './well-made.js';

const gateway = useDemoGateway({ students: 36 });
const pages = usePages(gateway);

describe('a record', () => {
  it('is made, changed, taken back field by field, removed and brought back', async () => {
    const page = await pages.openPortalAs('admin', '/portal/records/task');
    await page.getByRole('link', { name: 'New record' }).click();
    await page.getByRole('heading', { level: 1, name: 'New record' }).waitFor();
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
    await page.getByRole('cell', { name: '1,200.5' }).waitFor();
    await expectWellMade(page);
    // On a phone what was and what is stand one below the other, each as wide as the screen.
    await page.setViewportSize({ width: 360, height: 740 });
    expect((await page.locator('.added-value').first().boundingBox())?.width).toBeGreaterThan(240);
    await page.setViewportSize({ width: 1400, height: 900 });
    await page.getByRole('button', { name: 'Restore Amount from before' }).click();
    await page.getByText('Version 3', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.getByText(/^This removes <img/).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('This record was removed').waitFor();
    await page.getByRole('button', { name: 'Restore version 2' }).click();
    await page.getByRole('button', { name: 'Restore', exact: true }).click();
    await page.getByRole('tab', { name: 'Fields' }).click();
    expect(await page.getByLabel('Amount').inputValue()).toContain('1,200.5');
  });

  it('is not changed or removed later by what was discarded, left or withdrawn offline', async () => {
    const { createTask } = await ask(gateway, 'mutation { createTask(data: {name: "The fence"}) { id } }');
    const page = await pages.openPortalAs('admin', `/portal/records/task/${createTask.id}`);
    const name = page.getByLabel('Name');
    await name.waitFor();
    await page.context().setOffline(true);
    for (const withdraw of ['Discard changes', 'Withdraw']) {
      await name.fill(`Given up by ${withdraw}`);
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('1 change waits for the network.').waitFor();
      await page.getByRole('button', { name: withdraw }).click();
      await page.getByText('1 change waits for the network.').waitFor({ state: 'hidden' });
    }
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('1 change waits for the network.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('1 change waits for the network.').waitFor({ state: 'hidden' });
    await page.context().setOffline(false);
    await page.getByText('You are offline.').waitFor({ state: 'hidden' });
    await page.waitForLoadState('networkidle');
    const kept = await gateway.fetch(`/o/recs/task/${createTask.id}`, { as: 'admin' });
    expect(await kept.json()).toMatchObject({ name: 'The fence' });
  });

  it('is brought back, too, where it was imported, and its history begins with its removal', async () => {
    const listed = await gateway.fetch('/o/recs/holiday?limit=1', { as: 'admin' });
    const [holiday] = (await listed.json()) as readonly { readonly _id: string; readonly name: string }[];
    const path = `/o/recs/holiday/${holiday?._id}`;
    expect((await gateway.fetch(path, { method: 'DELETE', as: 'admin' })).ok).toBe(true);
    const page = await pages.openPortalAs('admin', `/portal/records/holiday/${holiday?._id}`);
    await page.getByText('This record was removed').waitFor();
    await page.getByText('Before these changes').waitFor();
    await page.getByRole('button', { name: 'Restore version 1' }).click();
    await page.getByRole('button', { name: 'Restore', exact: true }).click();
    await page.getByRole('tab', { name: 'Fields' }).click();
    await page.getByRole('heading', { level: 1, name: holiday?.name ?? '' }).waitFor();
    expect((await gateway.fetch(path, { as: 'admin' })).status).toBe(200);
  });

  it('says on every tab what it is known by, and is headed by whom it is about', async () => {
    const page = await pages.openPortalAs('admin', '/portal/records/registration/stu-00001?tab=history');
    const facts = page.locator('.fact-strip');
    await facts.getByText('Admission number').waitFor();
    expect(await facts.textContent()).toMatch(/Admission numberGV-\d+Class\d+Section[A-Z]/);
    const name = await page.getByRole('heading', { level: 1 }).textContent();
    const asked = '/o/recs/attendance?limit=1&oquery=student=stu-00001,status=present';
    const [mark] = (await (await gateway.fetch(asked, { as: 'admin' })).json()) as { readonly _id: string }[];
    await page.goto(`${gateway.url}/portal/records/attendance/${mark?._id}`);
    await page.getByRole('heading', { level: 1, name: name ?? '' }).waitFor();
    await facts.getByText('Present').waitFor();
    await facts.getByRole('link', { name: name ?? '' }).click();
    await page.waitForURL(/\/registration\/stu-00001/);
  });

  it('shows both when somebody else changed it, and keeps what is not saved over a reload', async () => {
    const id = await makeTask('Two people');
    const page = await pages.openPortalAs('admin', `/portal/records/task/${id}`);
    await page.getByLabel('Name').fill('Mine');
    await page.getByText('1 field not saved yet').waitFor();
    await page.reload();
    expect(await page.getByLabel('Name').inputValue()).toBe('Mine');
    await change(`task/${id}`, { name: 'Theirs', amount: 7 });
    await page.getByRole('button', { name: 'Save' }).click();
    const dialog = page.getByRole('dialog', { name: 'Someone else has changed this record' });
    await dialog.getByText('It was: Two people').waitFor();
    await expectWellMade(page);
    await dialog.getByRole('radio', { name: 'Theirs: Theirs' }).check();
    await dialog.getByRole('button', { name: 'Save my choice' }).click();
    await page.getByRole('heading', { level: 1, name: 'Theirs' }).waitFor();
    await page.getByLabel('Name').fill('Mine after all');
    await change(`task/${id}`, { amount: 8 });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('They changed other fields than you did.').waitFor();
    await page.getByRole('button', { name: 'Save my choice' }).click();
    await page.getByRole('heading', { level: 1, name: 'Mine after all' }).waitFor();
    expect(await page.getByLabel('Amount').inputValue()).toContain('8');
  });

  it('names who has changed it in the meantime', async () => {
    const record = 'registration/stu-00002';
    const page = await pages.openPortalAs('admin', `/portal/records/${record}?tab=fields`);
    await page.getByLabel('Route').fill('R7');
    await change(record, { guardian_phone: '+919812345678' }, 'clerk');
    await page.getByRole('button', { name: 'Save' }).click();
    const dialog = page.getByRole('dialog', { name: 'Someone else has changed this record' });
    const clerk = await (await gateway.fetch('/o/recs/pltf_user/usr-clerk', { as: 'admin' })).json();
    await dialog.getByText(`Changed by ${(clerk as { readonly name: string }).name} · `).waitFor();
  });

  it('takes numbers as people write them, and none that could be another', async () => {
    const id = await makeTask('Counted');
    const page = await pages.openPortalAs('admin', `/portal/records/task/${id}`);
    const amount = page.getByLabel('Amount');
    for (const [typed, number, shown] of [
      ['1,20,000.50', 120_000.5, '1,20,000.5'],
      ['०१२', 12, '12'],
      ['₹ 500/-', 500, '500'],
    ] as const) {
      await amount.fill('');
      // Key by key, as what is typed was changed under way once.
      await amount.pressSequentially(typed);
      expect(await amount.inputValue()).toBe(typed);
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('1 field not saved yet').waitFor({ state: 'hidden' });
      await expectEventually(() => amount.inputValue(), shown);
      expect(await read(id)).toMatchObject({ amount: number });
    }
    for (const typed of ['12,34', '1/2', 'five']) {
      await amount.fill(typed);
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('This is not a number.').waitFor();
      expect(await amount.inputValue()).toBe(typed);
    }
    await expectWellMade(page);
    expect(await read(id)).toMatchObject({ amount: 500 });
  });

  it('has texts without the blanks around them, and a year that is typed by hand', async () => {
    const id = await makeTask('Blanks');
    await change(`task/${id}`, { created_on: '2026-11-20T06:30:00.000Z' });
    const page = await pages.openPortalAs('admin', `/portal/records/task/${id}`);
    await page.getByLabel('Name').fill('  From a letter \u00a0');
    const createdOn = page.getByRole('textbox', { name: 'Created on', exact: true });
    expect(await createdOn.inputValue()).toBe('20/11/2026');
    await createdOn.focus();
    await page.keyboard.press('End');
    await page.keyboard.press('Backspace');
    await page.keyboard.type('4');
    expect(await createdOn.inputValue()).toBe('20/11/2024');
    expect(await page.getByLabel('Time of Created on').inputValue()).toMatch(/^12:00/);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { level: 1, name: 'From a letter' }).waitFor();
    expect(await read(id)).toMatchObject({
      name: 'From a letter',
      created_on: '2024-11-20T06:30:00.000Z',
    });
    await page.getByLabel('Name').fill('   ');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('This field is required.').first().waitFor();
    expect(await read(id)).toMatchObject({ name: 'From a letter' });
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
    await page.getByText('No files yet').waitFor();
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
    await page.getByRole('tab', { name: 'Linked records' }).click();
    await page
      .getByRole('link', { name: /2026, .* · (Present|Absent|Leave)$/ })
      .first()
      .waitFor();
    await page.getByRole('link', { name: 'Show all in Student attendance' }).click();
    await page.waitForURL(/oquery=student.value%3Dstu-00001/);
    await page.getByRole('group', { name: 'Student attendance' }).waitFor();
  });

  it('names in Hindi, too, the collections of the records that point to it', async () => {
    const page = await pages.openPortalAs('admin', '/portal/records/registration/stu-00001?tab=references');
    await page.evaluate(() => localStorage.setItem('campus-portal-language', 'hi'));
    await page.reload();
    await page.getByRole('link', { name: 'विद्यार्थी की उपस्थिति में सभी देखें' }).waitFor();
  });

  it('is made without what the gateway fills in by itself', async () => {
    const page = await pages.openPortalAs('accountant', '/portal/records/fee_concession/new');
    await page.getByRole('combobox', { name: 'Name' }).fill('a');
    await page.getByRole('option').first().click();
    await page.getByRole('combobox', { name: 'Kind' }).click();
    await page.getByRole('option', { name: 'Percent', exact: true }).click();
    await page.getByLabel('Value').fill('10');
    await page.getByLabel('Session').fill('2026-27');
    await page.getByLabel('From month').fill('2026-12');
    await page.getByLabel('To month').fill('2027-03');
    await page.getByText('Leave empty to use the time of saving.').waitFor();
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('tab', { name: 'History' }).waitFor();
    expect(await page.getByLabel('Created on', { exact: true }).inputValue()).not.toBe('');
  });

  it('is found by its name on a phone, also where it may be of several collections', async () => {
    const page = await pages.openPortalAs('clerk', '/portal/records/leave_request/new', { viewport: PHONE });
    const name = page.getByRole('combobox', { name: 'Name', exact: true });
    expect((await name.boundingBox())?.width).toBeGreaterThan(240);
    await page.getByRole('combobox', { name: 'Name is one of' }).click();
    await page.getByRole('option', { name: 'Staff' }).click();
    await name.fill('a');
    await page.getByRole('option').first().waitFor();
  });

  it('has two fields beside each other where the screen is wide, one below the other elsewhere', async () => {
    const page = await pages.openPortalAs('admin', '/portal/records/registration/stu-00001?tab=fields');
    const place = async (label: string) => await page.getByLabel(label, { exact: true }).boundingBox();
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.getByLabel('Mother name').waitFor();
    expect((await place('Mother name'))?.y).toBe((await place('Guardian phone'))?.y);
    await page.setViewportSize({ width: 800, height: 900 });
    const [mother, guardian] = [await place('Mother name'), await place('Guardian phone')];
    expect(guardian?.x).toBe(mother?.x);
    expect(guardian?.y ?? 0).toBeGreaterThan(mother?.y ?? 0);
  });

  it('shows what was saved from then on, and not for a moment what was before', async () => {
    const id = await makeTask('As it was');
    const page = await pages.openPortalAs('admin', `/portal/records/task/${id}`);
    await page.getByLabel('Name').fill(' As it is ');
    // What is asked after the save is not answered before the test has looked.
    let release = () => {};
    const hasLooked = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/graphql', async (route) => {
      if (route.request().postData()?.includes('query RecordNow')) await hasLooked;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('1 field not saved yet').waitFor({ state: 'hidden' });
    expect(await page.getByLabel('Name').inputValue()).toBe('As it is');
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('As it is');
    release();
    await page.getByText('Saved.').waitFor();
  });

  it('leaves the unit to the field that decides between two', async () => {
    const page = await pages.openPortalAs('admin', '/portal/records/fee_concession');
    await page
      .getByRole('gridcell', { name: /^(\d+ %|₹[\d,.]+)$/ })
      .first()
      .waitFor();
    expect(await page.getByRole('gridcell', { name: / or INR$/ }).count()).toBe(0);
  });

  it('says at a field what would be refused, before it is sent', async () => {
    const page = await pages.openPortalAs('admin', '/portal/records/fee_concession/new');
    await page.getByLabel('Value').fill('0');
    await page.getByLabel('Session').fill('2026');
    await page.getByLabel('To month').focus();
    for (const fault of ['More than 0.', 'Write it like 2026-27.']) await page.getByText(fault).waitFor();
    // A month is picked, so that it cannot be written in another way.
    expect(await page.getByLabel('From month').getAttribute('type')).toBe('month');
    const isValid = await page.locator('form').evaluate((form: HTMLFormElement) => form.checkValidity());
    expect(isValid).toBe(false);
  });

  it('counts what points to it before an admin removes it all the same', async () => {
    const page = await pages.openPortalAs('admin', '/portal/records/registration/stu-00002');
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await dialog.getByRole('link', { name: /^Student attendance: \d+ \(Student\)$/ }).waitFor();
    await dialog.getByRole('button', { name: 'Remove anyway' }).click();
    await page.getByText('This record was removed').waitFor();
    await page
      .getByRole('button', { name: /^Restore/ })
      .first()
      .waitFor();
  });

  it('shows a receipt that was rolled back as such in every list', async () => {
    const found =
      '{ records(collection: "fee_receipt", oquery: "status=rolled_back", first: 1) { nodes { id data } } }';
    const [{ id, data }] = (await ask(gateway, found, { as: 'admin' })).records.nodes;
    const { receipt_no: number, student } = data;
    const page = await pages.openPortalAs(
      'admin',
      `/portal/records/fee_receipt?oquery=receipt_no%3D${number}`,
    );
    await page.locator('tr.void', { hasText: number }).waitFor();
    await page.goto(`${gateway.url}/portal/records/registration/${student.value}?tab=references`);
    const link = page.getByRole('link', { name: new RegExp(`${number}\\b.*₹.*Rolled back$`) });
    await link.locator('.void').waitFor();
    await page.goto(`${gateway.url}/portal/records/fee_receipt/${id}`);
    await page.locator('.fact-strip').getByText('Rolled back').waitFor();
  });

  it('leads from a leave request to the member of staff who asks', async () => {
    const [user] = (
      await ask(gateway, '{ records(collection: "pltf_user", first: 1) { nodes { id } } }', { as: 'admin' })
    ).records.nodes;
    const data = {
      name: { value: user.id, label: 'Staff' },
      kind: 'staff',
      from: '2027-02-01',
      to: '2027-02-02',
    };
    const made = await ask(
      gateway,
      'mutation ($data: JSON!) { createRecord(collection: "leave_request", data: $data) { id } }',
      { variables: { data }, as: 'admin' },
    );
    const page = await pages.openPortalAs('admin', `/portal/records/leave_request/${made.createRecord.id}`);
    await page.locator(`a[href="/portal/records/pltf_user/${user.id}"]`).first().waitFor();
    expect(await page.locator(`a[href="/portal/records/registration/${user.id}"]`).count()).toBe(0);
  });

  it('has the tab that there is, where the address names another', async () => {
    const page = await pages.openPortalAs('admin', '/portal/records/task/new?tab=history');
    await page.getByLabel('Name').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    const id = await makeTask('Tabs');
    await page.goto(`${gateway.url}/portal/records/task/${id}?tab=nonsense`);
    await page.getByLabel('Name').waitFor();
  });

  it('shows the values and the parts of a record to a reader', async () => {
    const page = await pages.openPortalAs('accountant', '/portal/records/class/class-1');
    await page.getByText('You may read this record, not change it.').waitFor();
    await page.getByRole('definition').filter({ hasText: 'Primary' }).last().waitFor();
    await page.getByRole('definition').filter({ hasText: '40 seats' }).first().waitFor();
    await expectWellMade(page);
  });

  it('names the fields in a help text as the page does', async () => {
    const page = await pages.openPortalAs('clerk', '/portal/records/registration/new');
    await page.getByText(/Set it to a day after “Left on” to readmit/).waitFor();
    expect(await page.getByRole('tabpanel').locator('code').count()).toBe(0);
  });

  it('offers the records that a text names, such as the class of a student', async () => {
    const page = await pages.openPortalAs('clerk', '/portal/records/registration/new');
    const field = page.getByRole('combobox', { name: 'Class' });
    await field.fill('12');
    await page.getByRole('option', { name: '12', exact: true }).click();
    expect(await field.inputValue()).toBe('12');
  });

  it('is only read by who may not change it', async () => {
    const page = await pages.openPortalAs('viewer', '/portal/records/registration/stu-00001?tab=fields');
    await page.getByText('You may read this record, not change it.').waitFor();
    expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0);
    await page.getByRole('tabpanel').getByText('Admission number').waitFor();
    expect(await page.getByRole('tabpanel').getByRole('textbox').count()).toBe(0);
    await page.goto(`${gateway.url}/portal/records/fee_receipt/rcp-0000001`);
    await page.getByText('You do not have access to this page').waitFor();
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

async function read(id: string): Promise<Readonly<Record<string, unknown>>> {
  const response = await gateway.fetch(`/o/recs/task/${id}`, { as: 'admin' });
  return (await response.json()) as Readonly<Record<string, unknown>>;
}

async function change(
  record: string,
  fields: Readonly<Record<string, unknown>>,
  as: Role = 'admin',
): Promise<void> {
  const response = await gateway.fetch(`/o/recs/${record}`, {
    method: 'PATCH',
    as,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(fields),
  });
  expect(response.status).toBe(200);
}
