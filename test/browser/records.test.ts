/** The list of the records of a collection, in a real browser, on a demo school. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { Page } from 'playwright-core';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { expectEventually } from '../expect-eventually.js';
import { writeAtOnce } from './by-keyboard.js';
import { usePages } from './use-pages.js';
import { expectWellMade } from './well-made.js';

const gateway = useDemoGateway({ students: 120 }, { MAX_RECORDS_PER_WRITE: '3000' });
const pages = usePages(gateway);

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

/** Counts the requests of a page whose body has a text. */
function countRequests(page: Page, text: string): () => number {
  let count = 0;
  page.on('request', (request) => {
    if (request.postData()?.includes(text)) count += 1;
  });
  return () => count;
}

/** Runs in the page, whose clock stands still: what was read before is old by now. */
function passHalfAMinute(): void {
  const before = Date;
  const now = before.now() + 31_000;
  globalThis.Date = new Proxy(before, {
    get: (_, name) => (name === 'now' ? () => now : Reflect.get(before, name)),
  });
}

describe('the list of collections', () => {
  it('keeps every letter of a search, however fast it is typed, and the back button what it was', async () => {
    const page = await pages.openPortalAs('viewer', '/portal/records?find=holiday');
    const search = page.getByRole('searchbox', { name: 'Find a collection' });
    await page.getByRole('link', { name: /^Holidays/ }).waitFor();
    await writeAtOnce(page, search, 'student');
    await page.getByRole('link', { name: /^Students/ }).waitFor();
    expect(await search.inputValue()).toBe('student');
    await page.waitForURL(/find=student$/);
    await page.goto(`${gateway.url}/portal/records?find=holiday`);
    await page.goBack();
    await page.getByRole('link', { name: /^Students/ }).waitFor();
    expect(await search.inputValue()).toBe('student');
  });
});

describe('an action right after a choice', () => {
  it('counts what is found by the search that was just typed', async () => {
    const page = await pages.openPortalAs('viewer', '/portal/records/registration');
    const search = page.getByRole('searchbox', { name: 'Search by name' });
    await page.getByRole('group', { name: 'Students' }).waitFor();
    await writeAtOnce(page, search, 'zz');
    await page.getByRole('button', { name: 'Count', exact: true }).click();
    await page.getByText('0 records', { exact: true }).waitFor();
  });

  it('sends a file to the collection that was just chosen', async () => {
    const page = await pages.openPortalAs('admin', '/portal/imports');
    const sent = page.waitForRequest(
      (request) => request.method() === 'POST' && /imports\?/.test(request.url()),
    );
    await page.getByLabel('Import into').first().click();
    await page
      .getByRole('option', { name: 'Students', exact: true })
      .evaluate(async (option: HTMLElement) => {
        option.click();
        await Promise.resolve();
        const input = document.querySelector('input[type=file]') as HTMLInputElement;
        const chosen = new DataTransfer();
        chosen.items.add(new File(['name\nMeera\n'], 'new.csv', { type: 'text/csv' }));
        input.files = chosen.files;
        input.dispatchEvent(new Event('change', { bubbles: true }));
      });
    expect(new URL((await sent).url()).searchParams.get('collection')).toBe('registration');
    await page.getByRole('heading', { name: 'new.csv' }).waitFor();
  });

  it('exports in the format that was just chosen', async () => {
    const page = await pages.openPortalAs('viewer', '/portal/exports?collections=holiday');
    const exported = page.waitForEvent('download');
    await page.getByLabel('Format').evaluate(async (format: HTMLSelectElement) => {
      const choose = Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, 'value')?.set;
      choose?.call(format, 'ndjson');
      format.dispatchEvent(new Event('change', { bubbles: true }));
      await Promise.resolve();
      const buttons = [...document.querySelectorAll('main button')] as HTMLElement[];
      buttons.find(({ textContent }) => textContent === 'Export')?.click();
    });
    expect((await exported).suggestedFilename()).toBe('holiday.ndjson');
  });
});

describe('live data', () => {
  it('are followed again, and read anew, after the gateway ended the subscription', async () => {
    const page = await pages.openPortalAs('admin', '/portal/account');
    const subscribed: string[] = [];
    await page.routeWebSocket(/graphql/, (socket) => {
      const gatewaySocket = socket.connectToServer();
      socket.onMessage((text) => {
        const { id, type } = JSON.parse(String(text));
        gatewaySocket.send(text);
        if (type !== 'subscribe') return;
        subscribed.push(id);
        const extensions = { code: 'LIMIT_EXCEEDED', status: 400 };
        const payload = [{ message: 'More than 1000 imports changed at once.', extensions }];
        if (subscribed.length === 1) socket.send(JSON.stringify({ id, type: 'error', payload }));
      });
    });
    const reads = countRequests(page, 'PastImports');
    await page.goto(`${gateway.url}/portal/imports`);
    await page.getByText('No imports yet').or(page.getByText('new.csv')).first().waitFor();
    await expectEventually(() => subscribed.length, 2);
    await expectEventually(reads, 2);
  });
});

describe('the records of a collection', () => {
  it('are read on while one scrolls, in the order that is pressed, and not counted', async () => {
    const page = await pages.openPortalAs('viewer', '/portal/account');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.postData() ?? ''));
    await page.goto(`${gateway.url}/portal/records/attendance`);
    const grid = page.getByRole('group', { name: 'Student attendance' });
    await page.getByText('100 loaded; scroll for more').waitFor();
    await grid.evaluate((element) => element.scrollTo(0, 100 * 38));
    await page.getByText('200 loaded; scroll for more').waitFor();
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
    const text = dialog.getByLabel('As text (oquery)');
    await text.fill('class=5,section=A');
    // The characters of `=>` stay two.
    expect(await text.evaluate((input) => getComputedStyle(input).fontVariantLigatures)).toBe(
      'no-contextual',
    );
    expect(await dialog.getByLabel('Value of condition 2').inputValue()).toBe('A');
    await dialog.getByText('{"and":[{"class":{"equals":"5"}},{"section":{"equals":"A"}}]}').waitFor();
    await expectWellMade(page);
    await dialog.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.waitForURL(/oquery=class%3D5%2Csection%3DA/);
    await page.getByRole('button', { name: 'Class is 5 · Section is A', exact: true }).waitFor();
    const classes = page.getByRole('row').locator('td:nth-child(3)');
    await classes.first().waitFor();
    expect(new Set(await classes.allTextContents())).toEqual(new Set(['5']));
    const started = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByRole('menuitem', { name: 'CSV' }).click();
    const lines = (await readFile(await (await started).path(), 'utf8')).trimEnd().split('\r\n');
    expect(lines.length - 1).toBe(await classes.count());
  });

  it('are filtered by what is empty, and exported so', async () => {
    const page = await pages.openPortalAs('viewer', '/portal/records/registration');
    await page.getByRole('button', { name: 'Filter' }).click();
    const dialog = page.getByRole('dialog', { name: 'Filter' });
    await dialog.getByRole('button', { name: 'Add a condition' }).click();
    await dialog.getByLabel('Field of condition 1').fill('Left on');
    await page.getByRole('option', { name: 'Left on', exact: true }).click();
    await dialog.getByRole('combobox', { name: 'Operator of condition 1' }).click();
    await page.getByRole('option', { name: 'is not empty', exact: true }).click();
    expect(await dialog.getByLabel('Value of condition 1').count()).toBe(0);
    await dialog.getByText('{"left_on":{"isNull":false}}').waitFor();
    await dialog.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.waitForURL(/where=/);
    await page.getByRole('button', { name: 'Left on is not empty', exact: true }).waitFor();
    const found = await gateway.fetch(
      `/o/recs/registration?limit=1&where=${encodeURIComponent('{"left_on":{"isNull":false}}')}`,
      { as: 'viewer', headers: { prefer: 'count=exact' } },
    );
    const total = Number(found.headers.get('x-total-count'));
    expect(total).toBeGreaterThan(0);
    const started = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByRole('menuitem', { name: 'CSV' }).click();
    const lines = (await readFile(await (await started).path(), 'utf8')).trimEnd().split('\r\n');
    expect(lines.length - 1).toBe(total);
    // It is a row again, not a text of JSON.
    await page.getByRole('button', { name: 'Left on is not empty', exact: true }).click();
    await dialog.getByLabel('Field of condition 1').waitFor();
    expect(await dialog.getByLabel('Additional filter (where, as JSON)').inputValue()).toBe('');
    await dialog.getByRole('button', { name: 'Take condition 1 away' }).click();
    await dialog.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.waitForURL((url) => !url.searchParams.has('where'));
  });

  it('offer what the rights of the viewer allow by the next page, without a reload', async () => {
    const page = await pages.openPortalAs('clerk', '/portal/records/task');
    await page.getByRole('link', { name: 'New record' }).waitFor();
    await setRoles('clerk', ['viewer']);
    try {
      await page.evaluate(passHalfAMinute);
      await page.getByRole('link', { name: 'New record' }).click();
      await page.getByText('You do not have access to this page').waitFor();
      await page.goBack();
      await page.getByRole('button', { name: 'Filter' }).waitFor();
      expect(await page.getByRole('link', { name: 'New record' }).count()).toBe(0);
    } finally {
      await setRoles('clerk', ['clerk']);
    }
  });

  it('have their filter on its button as people read it, in both languages', async () => {
    const oquery = 'gender=male,admitted_on=>2020-04-01,no_such=5';
    const path = `/portal/records/registration?${new URLSearchParams({ oquery })}`;
    const page = await pages.openPortalAs('viewer', '/portal/account');
    await page.goto(gateway.url + path);
    const said = 'Gender is Male · Admitted on is later than 1 Apr 2020 · no_such is 5';
    await page.getByRole('button', { name: said, exact: true }).waitFor();
    await page.evaluate(() => localStorage.setItem('campus-portal-language', 'hi'));
    await page.reload();
    await page
      .getByRole('button', { name: /^लिंग: पुरुष है · .*: 1 अप्रैल 2020 के बाद है · no_such: 5 है$/ })
      .waitFor();
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
    await page.getByRole('checkbox', { name: 'Select all loaded' }).check();
    await page.getByRole('button', { name: 'Select all filtered records' }).click();
    await page.getByRole('group', { name: 'Selection' }).getByRole('button', { name: 'Remove' }).click();
    const dialog = page.getByRole('dialog', { name: 'Remove these records?' });
    await dialog.getByText('More than 3,000 records of Student attendance match').waitFor();
    expect(await dialog.getByRole('button', { name: /^Remove/ }).isDisabled()).toBe(true);
  });

  it('are found by what is pasted with blanks, and say which field of a filter is none', async () => {
    const address = (query: object) => `/portal/records/class?${new URLSearchParams({ ...query })}`;
    const page = await pages.openPortalAs('viewer', address({ search: ' 5 ' }));
    await page.getByRole('link', { name: '5', exact: true }).first().waitFor();
    await page.goto(gateway.url + address({ oquery: 'no_such=5' }));
    await page.getByText('Unknown or hidden here: no_such.').waitFor();
  });

  it.each([
    ['/portal/records/registration?oquery=admitted_on=on2026-13-45', 'admitted_on'],
    ['/portal/records/registration?oquery=admitted_on=%23in2026-99', 'admitted_on'],
    ['/portal/reports/fee-defaulters?run=1&startMonth=2026-99', 'startMonth'],
    ['/portal/messages?until=2026-13-01', 'until'],
    ['/portal/audit?until=2026-13-01', 'until'],
  ])('and other pages stand where a time in the address is none: %s', async (path, told) => {
    const page = await pages.openPortalAs('admin', '/portal/account');
    await page.goto(gateway.url + path);
    await page.getByRole('alert').getByText(told).first().waitFor();
    expect(await page.getByText('Invalid time value').count()).toBe(0);
  });

  it('stand where a value that should be a time is none', async () => {
    const client = new pg.Client({ connectionString: gateway.databaseUrl });
    await client.connect();
    try {
      await client.query(
        `update records set data = data || '{"admitted_on": "soon", "dob": "31/12/2015"}'
         where domain = 'demo' and collection = 'registration' and id = 'stu-00001'`,
      );
    } finally {
      await client.end();
    }
    const page = await pages.openPortalAs('admin', '/portal/account');
    await page.goto(
      `${gateway.url}/portal/records/registration?columns=name,admitted_on&oquery=_id=stu-00001`,
    );
    await page.getByRole('gridcell', { name: 'soon' }).waitFor();
    await page.goto(`${gateway.url}/portal/records/registration/stu-00001?tab=fields`);
    await page.getByRole('textbox', { name: 'Admitted on' }).waitFor();
    expect(await page.getByRole('textbox', { name: 'Admitted on' }).inputValue()).toBe('soon');
  });

  it('say in the words of the gateway what is wrong with a filter', async () => {
    const page = await pages.openPortalAs('viewer', '/portal/records/registration?oquery=class');
    const problem = page.getByRole('alert');
    await problem.getByText('an operator that begins with').waitFor();
    await problem.getByText(/MALFORMED_FILTER · Request/).waitFor();
    await expectWellMade(page);
  });
});
