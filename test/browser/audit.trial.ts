/** The audit of a school, in a real browser on a demo school. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { PHONE, usePages } from './use-pages.js';
import { expectToFit, expectWellMade } from './well-made.js';

const gateway = useDemoGateway({ students: 40 });
const pages = usePages(gateway);

async function change(collection: string, id: string, data: object): Promise<void> {
  const response = await gateway.fetch(`/o/recs/${collection}/${id}`, {
    method: 'PATCH',
    as: 'clerk',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(data),
  });
  expect(response.status).toBeLessThan(300);
}

async function addTasks(count: number): Promise<void> {
  const data = Array.from({ length: count }, (_, index) => ({ name: `Task ${index}` }));
  const query =
    'mutation AddTasks($data: [JSON!]!) { createRecords(collection: "task", data: $data) { id } }';
  const response = await gateway.fetch('/graphql', {
    method: 'POST',
    as: 'admin',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables: { data } }),
  });
  expect(((await response.json()) as { errors?: unknown }).errors).toBeUndefined();
}

async function firstId(collection: string): Promise<string> {
  const response = await gateway.fetch(`/o/recs/${collection}?limit=1`, { as: 'clerk' });
  return ((await response.json()) as readonly { readonly _id: string }[])[0]?._id ?? '';
}

describe('the page of the audit', () => {
  it('shows who changed what, is filtered, exported, and leads to the history', async () => {
    const page = await pages.openPortalAs('admin', '/portal/audit');
    // The log-ins of the tests.
    await page.getByRole('group', { name: 'Audit' }).getByRole('row').nth(1).waitFor();
    const id = await firstId('registration');
    await change('registration', id, { guardian_phone: '+919812345678' });
    await addTasks(250);
    await page.reload();
    const rows = page.getByRole('group', { name: 'Audit' }).getByRole('row');
    await rows.nth(20).waitFor({ state: 'attached' });
    // Of hundreds of changes those in sight are drawn, and others are read as they are reached.
    expect(await rows.count()).toBeLessThan(80);
    const grid = page.getByRole('group', { name: 'Audit' });
    await grid.evaluate((one) => one.scrollTo(0, one.scrollHeight));
    await page.getByText('200 loaded; scroll for more').waitFor();
    await expectWellMade(page);
    await expectToFit(page, 'Audit');
    await page.getByRole('combobox', { name: 'Who' }).fill('clerk');
    await page.getByRole('option', { name: /\(clerk\)$/ }).click();
    await page.waitForURL(/principal=/);
    await page.getByLabel('What').selectOption('deleted');
    await page.getByText('No changes match the filter').waitFor();
    await expectWellMade(page);
    await page.getByLabel('What').selectOption('updated');
    await page.getByText('1 change', { exact: true }).waitFor();
    const row = rows.nth(1);
    await row.getByRole('cell', { name: 'Students' }).waitFor();
    const started = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download CSV' }).click();
    const text = await readFile(await (await started).path(), 'utf8');
    expect(text.split('\n')[1]).toContain(`registration,${id}`);
    await row.getByRole('link', { name: id }).click();
    await page.getByRole('tab', { name: 'History', selected: true }).waitFor();
    // By the name of the user, whose id is what is kept.
    await page.getByText(/· Clerk · Log-in|· (?!usr-)[A-Z][a-z]+ [A-Z][a-z]+ · Log-in/).waitFor();
  });

  it('shows what was done to keys, and leads to the key', async () => {
    const query =
      'mutation { createApiKey(data: {name: "bell", scopes: {collections: {}, reports: [], scripts: []}}) ' +
      '{ id } }';
    await gateway.fetch('/graphql', {
      method: 'POST',
      as: 'admin',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    });
    const page = await pages.openPortalAs('admin', '/portal/audit');
    await page.getByLabel('Collection').selectOption('API keys');
    const row = page.getByRole('row', { name: / Created API keys / });
    await row.getByRole('link').click();
    await page.getByRole('heading', { level: 1, name: 'bell' }).waitFor();
  });

  it('shows what few filter by to who wants it, and while it leaves anything out', async () => {
    const page = await pages.openPortalAs('admin', '/portal/audit');
    const more = page.getByRole('button', { name: 'More filters' });
    await more.waitFor();
    expect(await page.getByLabel('Credential').count()).toBe(0);
    await more.press('Enter');
    await page.getByLabel('Credential').selectOption('API key');
    await page.waitForURL(/credential=/);
    await page.reload();
    await page.getByLabel('Credential').waitFor();
    await page.getByRole('button', { name: 'Clear the filter' }).click();
    await page.getByLabel('Credential').waitFor({ state: 'detached' });
  });

  it('opens its filter on a phone when it is wanted', async () => {
    const page = await pages.openPortalAs('admin', '/portal/audit', { viewport: PHONE });
    const filter = page.getByRole('button', { name: 'Filter', exact: true });
    await filter.waitFor();
    expect(await page.getByLabel('What').count()).toBe(0);
    await filter.press('Enter');
    await page.getByLabel('What').selectOption({ label: 'Removed' });
    await page.waitForURL(/operation=/);
    await filter.press('Enter');
    await page.getByRole('button', { name: 'Clear the filter' }).press('Enter');
    await page.waitForURL(/\/portal\/audit$/);
    await filter.press('Enter');
    await expectWellMade(page);
  });

  it('has a card for each change on a phone, whose parts are all in sight', async () => {
    const page = await pages.openPortalAs('admin', '/portal/audit', { viewport: PHONE });
    const list = page.getByRole('group', { name: 'Audit' });
    const cards = list.locator('tr[data-index]');
    await cards.first().waitFor();
    await cards.first().getByText('Created').waitFor();
    expect(await list.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    await list.evaluate((one) => one.scrollTo(0, one.scrollHeight));
    await page.getByText('200 loaded; scroll for more').waitFor();
    // Each stands below the one before, however many lines it has.
    const boxes = await cards.evaluateAll((all) =>
      all.map((one) => ({
        top: one.getBoundingClientRect().top,
        bottom: one.getBoundingClientRect().bottom,
      })),
    );
    for (const [index, { top }] of boxes.entries())
      expect(top).toBeGreaterThanOrEqual((boxes[index - 1]?.bottom ?? top) - 1);
    await page.setViewportSize({ width: 844, height: 390 });
    await page.getByRole('columnheader', { name: 'Who' }).waitFor();
  });

  it('is refused to another role that types its address', async () => {
    const page = await pages.openPortalAs('clerk', '/portal/audit');
    await page.getByText('You do not have access to this page').waitFor();
  });
});
