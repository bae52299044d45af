/** A report in the portal, in a real browser, on a demo school. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { focusedText } from './by-keyboard.js';
import { PHONE, usePages } from './use-pages.js';
import { expectWellMade } from './well-made.js';

const gateway = useDemoGateway({ students: 120 });
const pages = usePages(gateway);

describe('a report', () => {
  it('is run by its form, and the same as files', async () => {
    const page = await pages.openPortalAs('accountant', '/portal/reports');
    await page.getByRole('link', { name: /^Daily fee collection by head/ }).click();
    await page.getByLabel('From').fill('2026-11-16');
    await page.getByRole('combobox', { name: 'Date basis' }).click();
    await page.getByRole('option', { name: 'Day book' }).click();
    await page.getByRole('button', { name: 'Run' }).click();
    await page.waitForURL(/from=2026-11-16.*dateBasis=DAY_BOOK/);
    const rows = page.getByRole('group', { name: 'Daily fee collection by head' }).getByRole('row');
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
    await page.getByRole('group').getByRole('row').nth(1).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Change' }).click();
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

  it('says the codes of its rows as words, and amounts within a list as money', async () => {
    const page = await pages.openPortalAs('admin', '/portal/reports/day-sheet?date=2026-11-20&run=1');
    await page.getByRole('cell', { name: 'Absent', exact: true }).first().waitFor();
    expect(await page.getByRole('cell', { name: /^(absent|leave)$/ }).count()).toBe(0);
    const asked = 'from=2026-04-10&to=2026-04-10&paymentType=ALL&run=1';
    await page.goto(`${gateway.url}/portal/reports/daily-fee-collection?${asked}`);
    await page.getByRole('button', { name: '4 entries: Payment types' }).last().press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Payment types' });
    await dialog.getByRole('row', { name: /^Cash ₹[\d,]+\.\d\d$/ }).waitFor();
    await expectWellMade(page);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await page.goto(`${gateway.url}/portal/reports/fee-defaulters?startMonth=2026-04&endMonth=2026-11&run=1`);
    await page
      .getByRole('cell', { name: /Nov 2026/ })
      .first()
      .waitFor();
  });

  it('keeps the head of its table in sight, and the names of its bars whole', async () => {
    const asked = 'startMonth=2026-04&endMonth=2026-11&run=1';
    const page = await pages.openPortalAs('admin', `/portal/reports/fee-defaulters?${asked}`);
    const table = page.getByRole('group', { name: 'Fee defaulters' });
    await table.getByRole('row').nth(20).waitFor();
    const head = table.getByRole('columnheader', { name: 'Name', exact: true });
    const topOf = async () => (await head.boundingBox())?.y;
    const before = await topOf();
    await table.evaluate((one) => one.scrollTo(0, 300));
    expect(await table.evaluate((one) => one.scrollTop)).toBe(300);
    expect(await topOf()).toBe(before);
    await page.goto(`${gateway.url}/portal/reports/fee-defaulters?${asked}&tab=chart`);
    const chart = page.getByRole('figure', { name: /^Fee defaulters/ });
    const names = await chart.getByRole('rowheader').count();
    expect((await chart.boundingBox())?.height).toBeGreaterThan(names * 20);
    await expectWellMade(page);
  });

  it('is sorted by what they owe and searched, in the address, and keeps the name in view', async () => {
    const asked = 'startMonth=2026-04&endMonth=2026-11&run=1';
    const page = await pages.openPortalAs('accountant', `/portal/reports/fee-defaulters?${asked}`);
    const table = page.getByRole('group', { name: 'Fee defaulters' });
    const balance = table.getByRole('columnheader', { name: 'Balance' });
    const balances = async () => {
      const place = await balance.evaluate((cell) => (cell as HTMLTableCellElement).cellIndex);
      const texts = await table.locator(`tbody td:nth-child(${place + 1})`).allTextContents();
      return texts.map((text) => Number(text.replaceAll(/[^\d.]/g, '')));
    };
    await balance.getByRole('button').press('Enter');
    await page.waitForURL(/sort=balance/);
    const rising = await balances();
    expect(rising.length).toBeGreaterThan(20);
    expect(rising).toEqual(rising.toSorted((one, other) => one - other));
    await balance.getByRole('button').press('Enter');
    await page.waitForURL(/sort=-balance/);
    expect(await balance.getAttribute('aria-sort')).toBe('descending');
    expect(await balances()).toEqual(rising.toReversed());
    const name = table.getByRole('rowheader').first();
    const most = (await name.textContent()) ?? '';
    await name.getByRole('link').click();
    await page.waitForURL(/\/portal\/records\/registration\/stu-/);
    await page.getByRole('heading', { level: 1, name: most }).waitFor();
    await page.goBack();
    await table.evaluate((one) => one.scrollTo(400, 0));
    const edges = [name, table].map(async (one) => (await one.boundingBox())?.x ?? Number.NaN);
    const [ofName = 0, ofTable = 0] = await Promise.all(edges);
    expect(Math.abs(ofName - ofTable)).toBeLessThanOrEqual(1);
    await page.getByRole('searchbox', { name: 'Find in the rows' }).fill(most.toUpperCase());
    await page.getByText(/^1 row found/).waitFor();
    await page.reload();
    await page.getByText(/^1 row found/).waitFor();
    expect(await table.getByRole('rowheader').allTextContents()).toEqual([most]);
    await expectWellMade(page);
  });

  it('leads from a class and a day to what is behind them, if the viewer may follow', async () => {
    const asked = 'startMonth=2026-04&endMonth=2026-11&run=1';
    const page = await pages.openPortalAs('accountant', `/portal/reports/fee-defaulters?${asked}`);
    await page.getByRole('button', { name: /entries: Classes/ }).click();
    await page.getByRole('dialog').getByRole('link', { name: '5', exact: true }).click();
    await page.waitForURL(/class=5/);
    await page.getByText(/Class: 5$/).waitFor();
    const days = 'from=2026-11-16&to=2026-11-18&paymentType=ALL&run=1';
    await page.goto(`${gateway.url}/portal/reports/daily-fee-collection?${days}`);
    await page.getByRole('rowheader').getByRole('link').first().click();
    await page.waitForURL(/\/portal\/records\/fee_receipt\?oquery=date/);
    await page.getByRole('grid').getByRole('row').nth(1).waitFor();
  });

  it('stands beside the same of last year, row by row, in the address', async () => {
    const asked = 'type=MONTH&session=2026-27&run=1';
    const page = await pages.openPortalAs('accountant', `/portal/reports/fee-summary?${asked}`);
    await page.getByRole('combobox', { name: 'Compare with' }).click();
    await page.getByRole('option', { name: 'Same period last year' }).click();
    await page.waitForURL(/compare=year/);
    await page.getByText(/^Below each number.*Session: 2025-26/).waitFor();
    await page.locator('.report-table .earlier-value').first().waitFor();
    await expectWellMade(page);
  });

  it('has a switch on that holds without it, which is off for who asks for the others', async () => {
    const page = await pages.openPortalAs('admin', '/portal/reports/teachers');
    const active = page.getByRole('switch', { name: 'Active' });
    await page.getByRole('cell', { name: 'yes', exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'Change' }).click();
    expect(await active.isChecked()).toBe(true);
    await active.press('Space');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.waitForURL(/active=false/);
    await page.getByRole('cell', { name: 'yes', exact: true }).first().waitFor({ state: 'detached' });
    await page.reload();
    await page.getByRole('button', { name: 'Change' }).click();
    expect(await active.isChecked()).toBe(false);
    await page.goto(`${gateway.url}/portal/reports/daily-fee-collection`);
    await page.getByText('Where a rolled-back receipt counts. Default: Receipt.').waitFor();
  });

  it('says in Hindi, too, what its columns mean', async () => {
    const page = await pages.openPortalAs('admin', '/portal/account');
    await page.evaluate(() => localStorage.setItem('campus-portal-language', 'hi'));
    await page.goto(`${gateway.url}/portal/reports/strength`);
    const heads = page.locator('.report-table thead th [title]');
    await heads.first().waitFor();
    const meanings = await heads.evaluateAll((cells) =>
      cells.map((cell) => cell.getAttribute('title') ?? ''),
    );
    expect(meanings.length).toBeGreaterThan(4);
    expect(meanings.filter((text) => /[A-Za-z]|^$/.test(text))).toEqual([]);
  });

  it('of a month that is written as text says it as people do', async () => {
    const page = await pages.openPortalAs('admin', '/portal/reports/class-attendance', { viewport: PHONE });
    const asked = 'class=5&section=A&start=2026-10&end=2026-11&run=1';
    await page.goto(`${gateway.url}/portal/reports/class-attendance?${asked}`);
    await page.getByText('Start: Oct 2026 · End: Nov 2026').waitFor();
  });

  it('of nothing but zeros says so in place of a chart', async () => {
    const asked = 'from=2026-04-05&to=2026-04-05&paymentType=ALL&run=1&tab=chart';
    const page = await pages.openPortalAs('accountant', `/portal/reports/daily-fee-collection?${asked}`);
    await page.getByText('All values are zero').waitFor();
    expect(await page.locator('canvas').count()).toBe(0);
  });

  it('is found by topic, and by a word of what it is about', async () => {
    const page = await pages.openPortalAs('accountant', '/portal/reports');
    await page.getByRole('heading', { level: 1, name: 'Reports' }).waitFor();
    const titles = await page.locator('#content li').getByRole('heading').allTextContents();
    await page.getByRole('group', { name: 'Fees', exact: true }).getByText('Collection trend').waitFor();
    expect(titles.slice(0, 3)).toEqual([
      'Class details',
      'Strength by class and gender',
      'Student information',
    ]);
    await page.getByRole('searchbox', { name: 'Find a report' }).fill('rolled back');
    await page.getByRole('link', { name: 'Strength by class and gender' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Daily rolled-back receipts' }).waitFor();
    await page.getByRole('searchbox', { name: 'Find a report' }).fill('no such word');
    await page.getByText('No reports match').waitFor();
  });

  it('says in the words of the gateway what it cannot be about', async () => {
    const page = await pages.openPortalAs('accountant', '/portal/reports/strength?session=2199-00&run=1');
    await page
      .getByRole('alert')
      .getByText(/Request/)
      .waitFor();
  });

  it('stands before its form, which is opened to ask for something else', async () => {
    const page = await pages.openPortalAs(
      'accountant',
      '/portal/reports/fee-defaulters?run=1&startMonth=2026-04&endMonth=2026-11',
    );
    await page.getByText('Start month: Apr 2026 · End month: Nov 2026').waitFor();
    expect(await page.getByRole('button', { name: 'Run' }).count()).toBe(0);
    const change = page.getByRole('button', { name: 'Change' });
    await change.press('Enter');
    await page.getByRole('textbox', { name: 'Minimum' }).fill('5000');
    await page.getByRole('button', { name: 'Run' }).press('Enter');
    await page.getByText('End month: Nov 2026 · Minimum: 5000').waitFor();
    expect(await change.getAttribute('aria-expanded')).toBe('false');
    expect(await focusedText(page)).toBe('Change');
  });

  it('is run for other options while it still runs for those of before', async () => {
    const page = await pages.openPortalAs('accountant', '/portal/reports/fee-defaulters');
    let isFirst = true;
    await page.route('**/graphql', async (route) => {
      const isOfBefore = isFirst && route.request().postData()?.includes('feeDefaulters');
      if (isOfBefore) isFirst = false;
      else await route.continue();
    });
    await page.getByRole('button', { name: 'Run' }).click();
    await page.waitForURL(/run=1/);
    await page.getByRole('button', { name: 'Change' }).click();
    const minimum = page.getByRole('textbox', { name: 'Minimum' });
    await minimum.fill('5000');
    await minimum.press('Enter');
    await page.waitForURL(/minimum=5000/);
    await page.getByRole('group', { name: 'Fee defaulters' }).getByRole('row').nth(1).waitFor();
  });

  it('is sent by email on a schedule, about the month of each run', async () => {
    const page = await pages.openPortalAs('admin', '/portal/reports/fee-defaulters?run=1');
    await page.getByRole('button', { name: 'Send by email' }).click();
    await page.getByText('today.slice(0, 7)').first().waitFor();
    await page.getByText('const today = platform.format.day();').first().waitFor();
    expect(await page.getByLabel('On a schedule').inputValue()).toBe('0 7 1 * *');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('tab', { name: 'Run', exact: true }).click();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('Done', { exact: true }).waitFor();
  });

  it('is not there for who may not run it, by its address either', async () => {
    const page = await pages.openPortalAs('teacher', '/portal/reports/fee-summary');
    await page.getByText('You do not have access to this page').waitFor();
  });
});
