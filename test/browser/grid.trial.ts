/** The grid of records, whose cells are changed where they stand, in a real browser on a demo school. */
import { describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import type { Locator, Page } from 'playwright-core';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { eventually } from '../eventually.js';
import { nextToken, usePages } from './use-pages.js';
import { expectWellMade } from './well-made.js';

const gateway = useDemoGateway({ students: 36 });
const pages = usePages(gateway);

const JSON_BODY = { as: 'admin', headers: { 'content-type': 'application/json' } } as const;

async function makeTask(fields: Readonly<Record<string, unknown>>): Promise<string> {
  const response = await gateway.fetch('/o/task', {
    ...JSON_BODY,
    method: 'POST',
    body: JSON.stringify(fields),
  });
  return ((await response.json()) as { readonly _id: string })._id;
}

async function change(id: string, fields: Readonly<Record<string, unknown>>): Promise<void> {
  const body = JSON.stringify(fields);
  const response = await gateway.fetch(`/o/recs/task/${id}`, { ...JSON_BODY, method: 'PATCH', body });
  expect(response.status).toBe(200);
}

async function readTask(id: string): Promise<Readonly<Record<string, unknown>>> {
  const response = await gateway.fetch(`/o/recs/task/${id}`, { as: 'admin' });
  return (await response.json()) as Readonly<Record<string, unknown>>;
}

async function versionsOf(id: string): Promise<number> {
  const response = await gateway.fetch(`/o/recs/task/${id}/history`, { as: 'admin' });
  return ((await response.json()) as unknown[]).length;
}

async function amountsOf(name: string): Promise<readonly unknown[]> {
  const query = new URLSearchParams({ stream: 'true', oquery: `name=*${name}`, sort: 'created_on' });
  const response = await gateway.fetch(`/o/recs/task?${query}`, { as: 'admin' });
  return ((await response.json()) as { readonly amount: unknown }[]).map(({ amount }) => amount);
}

/** The next write reaches the gateway and is done there, and its answer does not come back. */
async function loseAnswer(page: Page): Promise<void> {
  let isLost = false;
  await page.route('**/graphql', async (route) => {
    if (isLost || !route.request().postData()?.includes('"query":"mutation')) return await route.fallback();
    isLost = true;
    await route.fetch();
    await route.abort('connectionrefused');
  });
}

const TASKS = '/portal/records/task?columns=name,amount,created_on,manager&oquery=name=*';

/** The columns count from the first that is a field, 0. */
function cellOf(page: Page, name: string, column: number): Locator {
  return page.getByRole('row', { name }).locator('td:not(:has([type=checkbox]))').nth(column);
}

async function expectFocusOn(cell: Locator): Promise<void> {
  await eventually(() => cell.evaluate((one) => one.contains(document.activeElement)));
}

describe('a cell of the grid', () => {
  it('is gone to by arrows, changed by Enter, left by Escape, and saved by Tab', async () => {
    const id = await makeTask({ name: 'Cell by cell', amount: 5 });
    const page = await pages.openPortalAs('admin', `${TASKS}Cell by`);
    await page.getByRole('link', { name: 'Cell by cell' }).focus();
    await page.keyboard.press('ArrowRight');
    await expectFocusOn(cellOf(page, 'Cell by cell', 1));
    await page.keyboard.press('Enter');
    const amount = page.getByRole('textbox', { name: 'Amount' });
    await amount.fill('77');
    await page.keyboard.press('Escape');
    await amount.waitFor({ state: 'hidden' });
    await expectFocusOn(cellOf(page, 'Cell by cell', 1));
    expect((await readTask(id)).amount).toBe(5);
    await page.keyboard.press('F2');
    await amount.fill('1200.5');
    await expectWellMade(page);
    await page.keyboard.press('Tab');
    await expectFocusOn(cellOf(page, 'Cell by cell', 2));
    await cellOf(page, 'Cell by cell', 1).getByText('₹1,200.50').waitFor();
    expect((await readTask(id)).amount).toBe(1200.5);
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.waitForURL(/sort=created_on/);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('1 record restored.').waitFor();
    await cellOf(page, 'Cell by cell', 1).getByText('₹5.00').waitFor();
    expect((await readTask(id)).amount).toBe(5);
  });

  it('leads to the record it names, by the pointer and by Tab, and is changed all the same', async () => {
    const id = await makeTask({ name: 'Leading', manager: { value: 'usr-teacher' } });
    const page = await pages.openPortalAs('admin', `${TASKS}Leading`);
    const cell = cellOf(page, 'Leading', 3);
    const link = cell.getByRole('link', { name: /^Open / });
    await page.getByRole('link', { name: 'Leading' }).focus();
    for (let column = 0; column < 3; column++) await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    const manager = page.getByRole('combobox', { name: 'Manager' });
    await manager.waitFor();
    // The first closes the list of the choices, where it has opened.
    await page.keyboard.press('Escape');
    if (await manager.isVisible()) await page.keyboard.press('Escape');
    await manager.waitFor({ state: 'hidden' });
    await expectFocusOn(cell);
    await page.keyboard.press('Tab');
    await expectFocusOn(link);
    await expectWellMade(page);
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/portal\/records\/pltf_user\/usr-teacher/);
    await page.goBack();
    await cell.hover();
    await link.click();
    await page.waitForURL(/\/portal\/records\/pltf_user\/usr-teacher/);
    expect((await readTask(id)).manager).toMatchObject({ value: 'usr-teacher' });
  });

  it('takes a record that is picked, and refuses in the words of the gateway where it stands', async () => {
    const id = await makeTask({ name: 'Picked' });
    const page = await pages.openPortalAs('admin', `${TASKS}Picked`);
    await cellOf(page, 'Picked', 3).dblclick();
    await page.getByRole('combobox', { name: 'Manager' }).fill('Kavita');
    await page.getByRole('option', { name: /Kavita/ }).click();
    await page.keyboard.press('Enter');
    await cellOf(page, 'Picked', 3)
      .getByText(/Kavita/)
      .waitFor();
    expect((await readTask(id)).manager).toMatchObject({ value: 'usr-teacher' });
    await page.getByRole('link', { name: 'Picked' }).focus();
    await page.keyboard.press('F2');
    const name = page.getByRole('textbox', { name: 'Name' });
    await name.fill('');
    // The browser itself does not send a field that must be there.
    await page.locator('form').evaluate((form: HTMLFormElement) => {
      form.noValidate = true;
    });
    await page.keyboard.press('Enter');
    await page.locator('form').getByText('This field is required.').waitFor();
    await expectWellMade(page);
    // What is not saved outlives a reload, and is told.
    await name.fill('Picked again');
    await page.reload();
    await page.getByText('1 record has changes that are not saved:').waitFor();
    await page.getByRole('alert').getByRole('link', { name: 'Picked' }).waitFor();
    await page.getByRole('grid').getByRole('link', { name: 'Picked' }).focus();
    await page.keyboard.press('F2');
    expect(await name.inputValue()).toBe('Picked again');
    await name.press('Enter');
    await page.getByRole('link', { name: 'Picked again' }).waitFor();
  });

  it('shows both when somebody else changed it meanwhile', async () => {
    const id = await makeTask({ name: 'Shared cell', amount: 1 });
    const page = await pages.openPortalAs('admin', `${TASKS}Shared`);
    await cellOf(page, 'Shared cell', 1).dblclick();
    await page.getByRole('textbox', { name: 'Amount' }).fill('2');
    await change(id, { amount: 3 });
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Someone else has changed this record' });
    await dialog.getByRole('radio', { name: 'Mine: ₹2.00' }).waitFor();
    await dialog.getByRole('radio', { name: 'Theirs: ₹3.00' }).check();
    await dialog.getByRole('button', { name: 'Save my choice' }).click();
    await cellOf(page, 'Shared cell', 1).getByText('₹3.00').waitFor();
    expect((await readTask(id)).amount).toBe(3);
  });

  it('waits for the end of being offline and of the log-in', async () => {
    const id = await makeTask({ name: 'Interrupted cell', amount: 1 });
    const page = await pages.openPortalAs('admin', '/');
    const token = await nextToken(page, () => page.goto(`${gateway.url}${TASKS}Interrupted`));
    await cellOf(page, 'Interrupted cell', 1).dblclick();
    const amount = page.getByRole('textbox', { name: 'Amount' });
    await amount.fill('8');
    await page.context().setOffline(true);
    await page.keyboard.press('Enter');
    await page.getByText('You are offline.').waitFor();
    expect(await amount.inputValue()).toContain('8');
    await gateway.fetch('/auth/logout', { method: 'POST', headers: { authorization: `Bearer ${token}` } });
    await page.context().setOffline(false);
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.getByLabel('Password').fill('demo-admin');
    await dialog.getByRole('button', { name: 'Log in', exact: true }).click();
    await cellOf(page, 'Interrupted cell', 1).getByText('₹8.00').waitFor();
    expect((await readTask(id)).amount).toBe(8);
  });

  it('is only read by who may not change it', async () => {
    await makeTask({ name: 'Locked' });
    const page = await pages.openPortalAs('viewer', `${TASKS}Locked`);
    const cell = cellOf(page, 'Locked', 1);
    await cell.click();
    await expectFocusOn(cell);
    expect(await cell.getAttribute('aria-readonly')).toBe('true');
    await page.keyboard.press('F2');
    await page.getByText('You may not change Amount here.').waitFor();
    expect(await page.getByRole('form').count()).toBe(0);
  });
});

describe('chosen records', () => {
  it('are changed together after a preview, and are as before by one press', async () => {
    const first = await makeTask({ name: 'Bulk one', amount: 1 });
    const second = await makeTask({ name: 'Bulk two', amount: 2 });
    const third = await makeTask({ name: 'Bulk three', amount: 3 });
    const amounts = () => Promise.all([first, second, third].map(async (id) => (await readTask(id)).amount));
    const page = await pages.openPortalAs('admin', `${TASKS}Bulk`);
    await page.getByRole('checkbox', { name: 'Select Bulk one' }).check();
    await page.getByRole('link', { name: 'Bulk two' }).focus();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Space');
    await page.getByText('2 records selected').waitFor();
    await expectWellMade(page);
    await page.getByRole('button', { name: 'Change fields' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change several records' });
    await dialog.getByText('2 records of Tasks will get the new value.').waitFor();
    await dialog.getByRole('combobox', { name: 'Fields' }).fill('Amount');
    await page.getByRole('option', { name: 'Amount' }).click();
    await dialog.getByRole('textbox', { name: 'Amount' }).fill('900');
    await dialog.getByText('Bulk two: ₹2.00 → ₹900.00').waitFor();
    expect(await dialog.getByText('Bulk three').count()).toBe(0);
    // Another field goes with it.
    await dialog.getByRole('combobox', { name: 'Fields' }).fill('Name');
    await page.getByRole('option', { name: 'Name', exact: true }).click();
    expect(await dialog.getByRole('button', { name: 'Change 2 records' }).isDisabled()).toBe(true);
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Bulk two');
    await dialog.getByText('Bulk one: Bulk one → Bulk two, ₹1.00 → ₹900.00').waitFor();
    await expectWellMade(page);
    await dialog.getByRole('button', { name: 'Change 2 records' }).click();
    await page.getByText('2 records changed.').waitFor();
    expect(await amounts()).toEqual([900, 900, 3]);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('2 records restored.').waitFor();
    expect(await amounts()).toEqual([1, 2, 3]);
  });

  it('are all that the filter leaves, and are removed and brought back', async () => {
    for (let index = 1; index <= 7; index++) await makeTask({ name: `Gone ${index}` });
    const page = await pages.openPortalAs('admin', `${TASKS}gone`);
    await page.getByRole('checkbox', { name: 'Select Gone 1' }).check();
    await page.getByRole('button', { name: 'Select all filtered records' }).click();
    await page.getByRole('group', { name: 'Selection' }).getByRole('button', { name: 'Remove' }).click();
    const dialog = page.getByRole('dialog', { name: 'Remove these records?' });
    await dialog.getByText('7 records of Tasks will be gone from lists and reports.').waitFor();
    await dialog.getByText('and 2 more').waitFor();
    // One that somebody else makes meanwhile is removed with the others, and told.
    await makeTask({ name: 'Gone 8' });
    await dialog.getByRole('button', { name: 'Remove 7 records' }).click();
    await page.getByText('8 records removed. The preview had counted 7').waitFor();
    await page.getByText('No records match the filter.').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('link', { name: 'Gone 8' }).waitFor();
  });

  it('are none for who may only read', async () => {
    const page = await pages.openPortalAs('viewer', '/portal/records/task');
    await page.getByRole('grid').waitFor();
    expect(await page.getByRole('checkbox').count()).toBe(0);
  });
});

describe('work that is cut off', () => {
  async function openChange(page: Page): Promise<Locator> {
    await page
      .getByRole('button', { name: 'Select all filtered records' })
      .or(page.getByRole('checkbox', { name: 'Select all loaded' }))
      .first()
      .click();
    await page.getByRole('button', { name: 'Change fields' }).click();
    return page.getByRole('dialog', { name: 'Change several records' });
  }

  it('is done once where the answer was lost and it is asked for again', async () => {
    const one = await makeTask({ name: 'Lost one', amount: 1 });
    const two = await makeTask({ name: 'Lost two', amount: 2 });
    const page = await pages.openPortalAs('admin', `/portal/records/task/${one}`);
    await page.getByLabel('Name').fill('Lost first');
    await loseAnswer(page);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').getByText('The gateway cannot be reached').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    expect(await readTask(one)).toMatchObject({ name: 'Lost first', amount: 1 });
    expect(await versionsOf(one)).toBe(2);

    await page.goto(`${gateway.url}${TASKS}lost`);
    const dialog = await openChange(page);
    await dialog.getByRole('combobox', { name: 'Fields' }).fill('Amount');
    await page.getByRole('option', { name: 'Amount' }).click();
    await dialog.getByRole('textbox', { name: 'Amount' }).fill('50');
    await loseAnswer(page);
    await dialog.getByRole('button', { name: 'Change 2 records' }).click();
    await dialog.getByText('The gateway cannot be reached').waitFor();
    await dialog.getByRole('button', { name: 'Change 2 records' }).click();
    await page.getByText('2 records changed.').waitFor();
    expect([await versionsOf(one), await versionsOf(two)]).toEqual([3, 2]);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('2 records restored.').waitFor();
    expect(await readTask(two)).toMatchObject({ amount: 2 });
  });

  it('is held against what it was begun from, also where the page has read it anew since', async () => {
    const id = await makeTask({ name: 'Begun', amount: 1 });
    const page = await pages.openPortalAs('admin', `/portal/records/task/${id}`);
    await page.getByLabel('Name').fill('Mine');
    await page.getByText('1 field not saved yet').waitFor();
    await change(id, { name: 'Theirs' });
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Theirs' }).waitFor();
    expect(await page.getByLabel('Name').inputValue()).toBe('Mine');
    await page.getByRole('button', { name: 'Save' }).click();
    const dialog = page.getByRole('dialog', { name: 'Someone else has changed this record' });
    await dialog.getByText('It was: Begun').waitFor();
    await page.waitForFunction(() => document.activeElement?.closest('[role=dialog]') !== null);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await page.waitForFunction(() => document.activeElement?.textContent === 'Save');
    await page.keyboard.press('Enter');
    await dialog.getByText('It was: Begun').waitFor();
    expect(await readTask(id)).toMatchObject({ name: 'Theirs' });
    await dialog.getByRole('button', { name: 'Save my choice' }).click();
    await page.getByRole('heading', { level: 1, name: 'Mine' }).waitFor();
    expect(await page.evaluate(() => Object.keys(sessionStorage).join())).not.toContain('campus-draft');
  });

  it('makes a record once where the answer was lost, also after the page is loaded anew', async () => {
    const page = await pages.openPortalAs('admin', '/portal/records/task/new');
    await page.getByLabel('Name').fill('Made once');
    await loseAnswer(page);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('alert').getByText('The gateway cannot be reached').waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'Made once' }).waitFor();
    expect(await amountsOf('Made once')).toHaveLength(1);
    // Another one with the same fields is another record, once this one is known to be made.
    await page.goto(`${gateway.url}/portal/records/task/new`);
    await page.getByLabel('Name').fill('Made once');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'Made once' }).waitFor();
    expect(await amountsOf('Made once')).toHaveLength(2);
  });

  it('is of the same records after a reload, and done once where the answer was lost before it', async () => {
    const one = await makeTask({ name: 'Kept one', amount: 1 });
    await makeTask({ name: 'Kept two', amount: 2 });
    const page = await pages.openPortalAs('admin', `${TASKS}Kept`);
    await page.getByRole('checkbox', { name: 'Select Kept one' }).check();
    await page.getByRole('button', { name: 'Change fields' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change several records' });
    await dialog.getByRole('combobox', { name: 'Fields' }).fill('Amount');
    await page.getByRole('option', { name: 'Amount' }).click();
    await dialog.getByRole('textbox', { name: 'Amount' }).fill('60');
    await page.reload();
    await dialog.getByText('Kept one: ₹1.00 → ₹60.00').waitFor();
    await loseAnswer(page);
    await dialog.getByRole('button', { name: 'Change 1 record' }).click();
    await dialog.getByText('The gateway cannot be reached').waitFor();
    await page.reload();
    await dialog.getByRole('button', { name: 'Change 1 record' }).click();
    await page.getByText('1 record changed.').waitFor();
    expect(await amountsOf('Kept')).toEqual([60, 2]);
    expect(await versionsOf(one)).toBe(2);
    await page.reload();
    await page.getByRole('checkbox', { name: 'Select Kept one' }).waitFor();
    expect(await dialog.count()).toBe(0);
    expect(await page.getByText(/^1 record selected/).count()).toBe(0);
    expect(await page.evaluate(() => Object.keys(sessionStorage).join())).not.toContain('campus-draft');
  });

  it('goes on where the gateway is started anew, and is there after a reload', async () => {
    const one = await makeTask({ name: 'Anew one', amount: 1 });
    await makeTask({ name: 'Anew two', amount: 2 });
    const form = await pages.openPortalAs('admin', `/portal/records/task/${one}`);
    await form.getByLabel('Name').fill('Anew first');
    const grid = await form.context().newPage();
    await grid.goto(`${gateway.url}${TASKS}anew`);
    const cell = cellOf(grid, 'Anew two', 1);
    await cell.click();
    await grid.keyboard.press('F2');
    await grid.getByRole('textbox', { name: 'Amount' }).fill('20');
    const many = await form.context().newPage();
    await many.goto(`${gateway.url}${TASKS}anew`);
    const dialog = await openChange(many);
    await dialog.getByRole('combobox', { name: 'Fields' }).fill('Amount');
    await many.getByRole('option', { name: 'Amount' }).click();
    await dialog.getByRole('textbox', { name: 'Amount' }).fill('70');
    await gateway.restart(async () => {
      await form.getByRole('button', { name: 'Save' }).click();
      await form.getByRole('alert').getByText('The gateway cannot be reached').waitFor();
      await grid.keyboard.press('Enter');
      await grid.getByText('The gateway cannot be reached').first().waitFor();
      await dialog.getByRole('button', { name: 'Change 2 records' }).click();
      await dialog.getByText('The gateway cannot be reached').waitFor();
    });
    await form.getByRole('button', { name: 'Save' }).click();
    await form.getByText('Saved.').waitFor();
    await grid.getByRole('textbox', { name: 'Amount' }).press('Enter');
    await eventually(async () => (await amountsOf('Anew')).join() === '1,20');
    await many.reload();
    expect(await dialog.getByRole('textbox', { name: 'Amount' }).inputValue()).toContain('70');
    await dialog.getByRole('button', { name: 'Change 2 records' }).click();
    await many.getByText('2 records changed.').waitFor();
    expect(await amountsOf('Anew')).toEqual([70, 70]);
  });
});

interface PlanNode {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** How many rows a plan took out of our tables, with those that its filters dropped; not the statistics. */
function rowsReadBy(node: PlanNode): number {
  const isScan = node['Relation Name']?.startsWith('pg_') === false;
  const rows = isScan ? (node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0) : 0;
  const below = (node.Plans ?? []).map(rowsReadBy);
  return below.reduce((sum, one) => sum + one, rows * (node['Actual Loops'] ?? 1));
}

/** Every session of the database tells its client, as a notice, how each statement was done. */
async function explainEveryStatement(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const name = client.escapeIdentifier(new URL(databaseUrl).pathname.slice(1));
    await client.query('analyze records');
    for (const setting of [
      "session_preload_libraries = 'auto_explain'",
      'auto_explain.log_min_duration = 0',
      'auto_explain.log_analyze = on',
      'auto_explain.log_timing = off',
      "auto_explain.log_format = 'json'",
      "auto_explain.log_level = 'notice'",
    ]) {
      await client.query(`alter database ${name} set ${setting}`);
    }
  } finally {
    await client.end();
  }
}

describe('a large collection', () => {
  it('is neither counted nor read whole when the grid opens, scrolls and filters', async () => {
    // The connections are the gateway's own: what the server tells them is heard as they pass it on.
    const events = jest.spyOn(pg.Client.prototype, 'emit');
    /** Of all statements since it was asked last. */
    const rowsRead = () => {
      const plans = events.mock.calls.flatMap(([event, notice]: readonly unknown[]) => {
        const json = event === 'notice' ? (notice as Error).message.split('plan:\n')[1] : undefined;
        return json === undefined ? [] : [(JSON.parse(json) as { readonly Plan: PlanNode }).Plan];
      });
      events.mockClear();
      return plans.map(rowsReadBy).reduce((sum, rows) => sum + rows, 0);
    };
    try {
      await gateway.restart(() => explainEveryStatement(gateway.databaseUrl));
      // A page that reads no records, which would be counted with those of the grid.
      const page = await pages.openPortalAs('admin', '/portal/account');
      const grid = page.getByRole('group', { name: 'Student attendance' });
      const attendance = `${gateway.url}/portal/records/attendance`;
      rowsRead();
      await page.goto(`${attendance}?oquery=${encodeURIComponent('created=on2026-11-19')}`);
      await grid.getByRole('row').nth(3).waitFor();
      const filtered = rowsRead();
      await page.goto(attendance);
      await page.getByText('100 loaded; scroll for more').waitFor();
      const opened = rowsRead();
      await grid.evaluate((element) => element.scrollTo(0, 100 * 38));
      await page.getByText('200 loaded; scroll for more').waitFor();
      const scrolled = rowsRead();
      await page.getByRole('button', { name: 'Count', exact: true }).click();
      await page.getByRole('button', { name: 'Count', exact: true }).waitFor({ state: 'hidden' });
      const counted = rowsRead();
      // A page has 100 records and is read with one more; the first two also ask for the user and the views.
      expect(filtered).toBeLessThan(300);
      expect(opened).toBeLessThan(400);
      expect(scrolled).toBeLessThan(200);
      // So a count or a reading of all would have been noticed.
      expect(counted).toBeGreaterThan(3_000);
    } finally {
      events.mockRestore();
    }
  });
});
