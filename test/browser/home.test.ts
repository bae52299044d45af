/** The dashboard that one begins the day with, in a real browser, on a demo school. */
import { describe, expect, it } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { DEMO_TODAY, useDemoGateway } from '../contract/demo-gateway.js';
import { eventually } from '../eventually.js';
import { PHONE, usePages } from './use-pages.js';
import { expectWellMade } from './well-made.js';

const gateway = useDemoGateway({ students: 120 });
const pages = usePages(gateway);

interface DaySheet {
  readonly rows: readonly { readonly status: string; readonly phone: string | null }[];
  readonly totals: { readonly absent: number };
}

describe('the dashboard', () => {
  it.each([
    [
      'admin',
      [
        'The day in figures',
        'Absent by class',
        'Collected by payment type',
        'Outstanding by age',
        'Leave to approve',
        'Strength',
      ],
    ],
    [
      'accountant',
      ['Collected by payment type', 'Collected by fee head', 'Outstanding by age', 'Fee defaulters'],
    ],
    ['teacher', ['Absent by class', 'Absentees', 'Low attendance', 'Results by term', 'New record']],
    ['viewer', ['Strength', 'Reports', 'Dashboards']],
  ])('of %s has what their rights allow', async (role, tiles) => {
    const page = await pages.openPortalAs(role, '/');
    for (const tile of tiles) await page.getByRole('region', { name: tile, exact: true }).waitFor();
    const isOfFees = await page.getByRole('region', { name: 'Collected by payment type' }).count();
    expect(isOfFees > 0).toBe(['admin', 'accountant'].includes(role));
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  it('calls a holiday one, and says of every tile the day that is chosen', async () => {
    const page = await pages.openPortalAs('admin', '/?day=2026-08-15');
    const figures = page.getByRole('region', { name: 'The day in figures' });
    await figures.getByText('Holiday: Independence Day').waitFor();
    await page.getByText('15 Aug 2026 is a holiday: Independence Day').first().waitFor();
    expect(await page.getByText(/No one is absent/).count()).toBe(0);
    const defaulters = page.getByRole('region', { name: 'Fee defaulters' });
    await defaulters.getByText('students owe fees').waitFor();
    const count = await defaulters.locator('.figure-value').textContent();
    await figures.getByRole('link', { name: new RegExp(`\\b${count} students$`) }).waitFor();
  });

  it('is printed whole from its first second on', async () => {
    const page = await pages.openPortalAs('admin', '/portal/reports', { viewport: PHONE });
    await page.evaluate(() => {
      window.print = () => {
        document.body.dataset.printed = String(
          document.querySelectorAll('.tile-waiting, .tile [aria-busy]').length,
        );
      };
    });
    let release: () => void = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/graphql', async (route) => {
      if (/OutstandingByAge|CollectedByMonth/.test(route.request().postData() ?? '')) await held;
      await route.continue();
    });
    await page.getByRole('link', { name: 'Campus Gateway, home' }).click();
    await page.getByRole('button', { name: 'Print' }).click();
    await page.getByRole('region', { name: 'Outstanding by age' }).waitFor({ state: 'attached' });
    expect(await page.locator('body').getAttribute('data-printed')).toBe(null);
    release();
    await page.locator('body[data-printed="0"]').waitFor();
  });

  it('takes the day as it is written in India, and says what is none', async () => {
    const page = await pages.openPortalAs('admin', '/');
    const day = page.getByLabel('The day that is shown');
    await day.fill('24/11/2026');
    await page.waitForURL(/day=2026-11-24/);
    await day.fill('31/02/2026');
    await day.press('Tab');
    await page.getByText('Write a day such as 26/11/2026.').waitFor();
    await day.fill('');
    await day.press('Tab');
    expect(await day.inputValue()).toBe('24/11/2026');
  });

  it('goes on to the next day by itself where it stays open over midnight', async () => {
    const page = await pages.openPortalAs('admin', '/');
    const day = page.getByLabel('The day that is shown');
    const shown = async () => (await day.inputValue()).split('/').reverse().join('-');
    expect(await shown()).toBe(DEMO_TODAY);
    await page.evaluate(() => {
      const Before = Date;
      const now = () => Before.now() + 86_400_000;
      globalThis.Date = new Proxy(Before, {
        construct: (_, given: unknown[]) => Reflect.construct(Before, given.length === 0 ? [now()] : given),
        get: (_, name) => (name === 'now' ? now : Reflect.get(Before, name)),
      });
    });
    await eventually(async () => (await shown()) > DEMO_TODAY);
  });

  it('leads a clerk to what they enter, and keeps a long list for its own page', async () => {
    const page = await pages.openPortalAs('clerk', '/');
    const entered = page.getByRole('region', { name: 'New record', exact: true });
    await entered.waitFor();
    expect(await entered.getByRole('link').allTextContents()).toEqual([
      'Holidays',
      'Leave requests',
      'Staff attendance',
      'Students',
      'Tasks',
    ]);
    expect(await page.getByRole('region', { name: 'Reports', exact: true }).count()).toBe(0);
    await entered.getByRole('link', { name: 'Students' }).click();
    await page.waitForURL(/\/portal\/records\/registration\/new/);
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
    await page.getByRole('link', { name: /^Students present/ }).click();
    await page.waitForURL(/\/portal\/reports\/day-sheet\?date=2026-11-20/);
    await page.getByText('Marked').waitFor();
  });

  it('shows at once what was decided on another page', async () => {
    const page = await pages.openPortalAs('clerk', '/');
    const leave = page.getByRole('region', { name: 'Leave to approve' });
    const first = leave.getByRole('row').first().getByRole('link').first();
    const address = (await first.getAttribute('href')) ?? '';
    await first.click();
    await page.getByRole('combobox', { name: /^Status/ }).click();
    await page.getByRole('option', { name: 'Approved', exact: true }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    await page.getByRole('link', { name: 'Home', exact: true }).click();
    await leave.locator(`a[href="${address}"]`).waitFor({ state: 'detached' });
    await leave.getByRole('row').first().waitFor();
  });

  it('draws a chart when it comes near, and all for the printer', async () => {
    const page = await pages.openPortalAs('admin', '/', { viewport: PHONE });
    const last = page.getByRole('region', { name: 'Strength', exact: true }).locator('canvas');
    await last.waitFor();
    const first = page.getByRole('region', { name: 'Absent by class' }).locator('canvas');
    await eventually(() => isDrawn(first));
    expect(await isDrawn(last)).toBe(false);
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    expect(await isDrawn(last)).toBe(true);
    // The field that shows the day on the screen is not on paper.
    await page.locator('.page-about').getByText('20 Nov 2026').waitFor();
    await page.evaluate(() => dispatchEvent(new Event('afterprint')));
    await last.scrollIntoViewIfNeeded();
    await eventually(() => isDrawn(last));
  });
});

async function isDrawn(canvas: Locator): Promise<boolean> {
  return await canvas.evaluate((element) => {
    const { width, height } = element as HTMLCanvasElement;
    const drawn = (element as HTMLCanvasElement).getContext('2d')?.getImageData(0, 0, width, height).data;
    return drawn?.some((value) => value > 0) ?? false;
  });
}
