/** Files become records by the pages of imports, in a real browser on a demo school. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { ask } from '../contract/graphql.js';
import { eventually } from '../eventually.js';
import { nextToken, usePages } from './use-pages.js';
import { expectWellMade } from './well-made.js';

const gateway = useDemoGateway({ students: 40 }, { IMPORT_ROLES: 'admin,clerk' });
const pages = usePages(gateway);

const HEADER = 'Adm No,Student Name,Class,Section,Sex,DOB,Session,Admitted on,Hobby';
const ROWS = [
  'N-501,Meera Nair,5,A,F,01/06/2015,2026-27,31/03/2026,',
  'N-502,<b>Kabir</b> Das,5,A,M,14/09/2015,2026-27,31/03/2026,chess',
  'N-503,Sara Khan,5,A,X,30/01/2015,2026-27,31/03/2026,',
];

async function take(page: Page, name: string, rows: readonly string[]): Promise<void> {
  await page.locator('input[type=file]').setInputFiles({
    name,
    mimeType: 'text/csv',
    buffer: Buffer.from(`${[HEADER, ...rows].join('\n')}\n`),
  });
  await page.getByRole('heading', { level: 1, name }).waitFor();
}

async function countOf(path: string): Promise<number> {
  const response = await gateway.fetch(path, { as: 'admin' });
  return ((await response.json()) as readonly unknown[]).length;
}

/** Runs in the page: files of these names are dropped. */
function dropFiles(zone: Element, names: readonly string[]): void {
  const dataTransfer = new DataTransfer();
  for (const name of names) dataTransfer.items.add(new File(['a,b\n1,2\n'], name, { type: 'text/csv' }));
  zone.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer }));
}

describe('an import in the portal', () => {
  it('goes its four steps, and back', async () => {
    const page = await pages.openPortalAs('admin', '/portal/imports?collection=registration');
    await page.getByText('No imports yet').waitFor();
    await expectWellMade(page);
    await take(page, 'students.csv', ROWS);
    await page.getByLabel('Student Name goes to').waitFor();
    expect(await page.getByLabel('Student Name goes to').inputValue()).toBe('name');
    expect(await page.getByLabel('DOB is written as').inputValue()).toBe('DD/MM/YYYY');
    // A column with values is left out only if somebody says so.
    const hobby = page.getByLabel('Hobby goes to');
    expect(await hobby.inputValue()).toBe('?');
    await hobby.selectOption('');
    expect(await page.getByLabel('Adm No goes to').inputValue()).toBe('sequence');
    expect(await page.getByLabel('Sex goes to').inputValue()).toBe('gender');
    expect(await page.getByLabel('Instead of F').inputValue()).toBe('female');
    await page.getByLabel('Instead of M').selectOption('male');
    await page.getByLabel('Admitted on goes to').selectOption('admitted_on');
    await page.getByLabel('Admitted on is written as').selectOption('DD/MM/YYYY');
    await page.getByLabel('Another field').selectOption('status');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByLabel('Status', { exact: true }).selectOption('active');
    await expectWellMade(page);
    // What is not sent yet outlives a reload.
    await page.reload();
    expect(await page.getByLabel('Admitted on goes to').inputValue()).toBe('admitted_on');
    await page.getByLabel('Save this mapping as').fill('students');
    await page.getByRole('button', { name: 'Start dry run' }).click();

    await page.getByText('With these settings nothing would be imported').waitFor();
    await page.getByRole('row', { name: /^4 Sex X / }).waitFor();
    // A row that makes a record has no link yet, and is told by what it is going to be called.
    const preview = page.getByRole('table', { name: 'The first rows' });
    await preview.getByRole('row', { name: /^2 \S+ Meera Nair$/ }).waitFor();
    await preview.getByRole('row', { name: '<b>Kabir</b> Das' }).waitFor();
    await expectWellMade(page);
    const started = page.waitForEvent('download');
    await page.getByRole('button', { name: 'All rows with errors (CSV)' }).click();
    const text = await readFile(await (await started).path(), 'utf8');
    expect(text).toContain('N-503,Sara Khan');
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'All rows (CSV)' }).click();
    expect(await readFile(await (await saved).path(), 'utf8')).toMatch(
      /^2,create,,,\r\n3,create,,,\r\n4,error,,/m,
    );
    await page.getByRole('button', { name: 'Import rows without errors' }).click();
    const question = page.getByRole('dialog', { name: 'Import rows without errors?' });
    await question.getByText('New records: 2').waitFor();
    await expectWellMade(page);
    await question.getByRole('button', { name: 'Import', exact: true }).click();

    await page.getByRole('link', { name: 'See the records' }).waitFor();
    expect(await countOf('/o/recs/registration?oquery=sequence=*N-50')).toBe(2);
    await expectWellMade(page);
    await page.getByRole('button', { name: 'Undo the import' }).click();
    const undo = page.getByRole('dialog', { name: 'Undo this import?' });
    await undo.getByText('Records it created will be removed: 2').waitFor();
    await undo.getByRole('button', { name: 'Undo the import' }).click();
    await page.getByText('Undone', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Undo the import' }).count()).toBe(0);
    expect(await countOf('/o/recs/registration?oquery=sequence=*N-50')).toBe(0);
    await page.goto(`${gateway.url}/portal/imports`);
    await page.getByRole('row', { name: /^students\.csv .* Undone / }).waitFor();
    await expectWellMade(page);
  });

  it('takes none of several files that are dropped together, and says so', async () => {
    const page = await pages.openPortalAs('admin', '/portal/imports?collection=registration');
    await page.locator('.drop-zone').evaluate(dropFiles, ['one.csv', 'two.csv']);
    await page.getByText('These are 2 files. An import is of one: drop them one by one.').waitFor();
    await expectWellMade(page);
    await page.locator('.drop-zone').evaluate(dropFiles, ['one.csv']);
    await page.getByRole('heading', { level: 1, name: 'one.csv' }).waitFor();
  });

  it('parts a column that holds a class and a section, as proposed and as chosen', async () => {
    const page = await pages.openPortalAs('admin', '/portal/imports?collection=registration');
    const sheet = 'Adm No,Class/Sec,House\nP-1,10-A,Red/North\nP-2,9-B,Blue/South\n';
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'parts.csv', mimeType: 'text/csv', buffer: Buffer.from(sheet) });
    await page.getByLabel('Class/Sec, part 2 goes to').waitFor();
    expect(await page.getByLabel('Class/Sec, part 1 goes to').inputValue()).toBe('class');
    expect(await page.getByLabel('Class/Sec, part 2 goes to').inputValue()).toBe('section');
    await page.getByText('A · B', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'More about Class/Sec, part 1' }).click();
    await page.getByLabel('Class/Sec, part 1 is separated by').selectOption('whole');
    expect(await page.getByLabel('Class/Sec goes to').inputValue()).toBe('class');
    expect(await page.getByLabel('Class/Sec, part 2 goes to').count()).toBe(0);
    await page.getByLabel('House goes to').selectOption('category');
    await page.getByRole('button', { name: 'More about House' }).click();
    await page.getByLabel('House is separated by').selectOption('/');
    await page.getByText('North · South', { exact: true }).waitFor();
    await page.getByLabel('House, part 2 goes to').selectOption('address');
    await expectWellMade(page);
    expect(await page.getByLabel('House, part 1 goes to').inputValue()).toBe('category');
  });

  it('says which record a row stands for, and leads to it', async () => {
    const answer = await gateway.fetch('/o/recs/registration?limit=1', { as: 'admin' });
    const [student] = (await answer.json()) as readonly Readonly<Record<string, string>>[];
    const page = await pages.openPortalAs('admin', '/portal/imports?collection=registration');
    const sheet = `Adm No,Address\n${student?.sequence},1 New Street\n`;
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'moved.csv', mimeType: 'text/csv', buffer: Buffer.from(sheet) });
    await page.getByRole('button', { name: 'Start dry run' }).click();
    const link = page.getByRole('row', { name: /^2 Changed / }).getByRole('link');
    await link.getByText(student?.name ?? '', { exact: true }).waitFor();
    expect(await link.getAttribute('href')).toBe(`/portal/records/registration/${student?._id}`);
    await expectWellMade(page);
  });

  it('says all that is wrong with a mapping, and takes one that was saved', async () => {
    const page = await pages.openPortalAs('admin', '/portal/imports?collection=registration');
    await take(page, 'more.csv', ROWS.slice(0, 1));
    await page.getByLabel('Use a saved mapping').selectOption('students');
    expect(await page.getByLabel('Admitted on goes to').inputValue()).toBe('admitted_on');
    await page.getByLabel('Hobby goes to').selectOption('_id');
    await page.getByLabel('Save this mapping as').fill('/');
    await page.getByRole('button', { name: 'Start dry run' }).click();
    await page
      .getByRole('alert')
      .getByText(/Request/)
      .waitFor();
  });

  it('is refused to who may not, by its address too, and is no page of others', async () => {
    const page = await pages.openPortalAs('teacher', '/portal/imports');
    await page.getByText('You do not have access to this page').waitFor();
    expect(await page.getByRole('link', { name: 'Import' }).count()).toBe(0);
    const clerk = await pages.openPortalAs('clerk', '/portal/imports/01995f6e-6f0a-7c3e-9d5c-2f6a7b8c9d0e');
    await clerk.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor();
  });

  it('offers no undo to who may not take its records back', async () => {
    const asked = async (method: string, path: string, body?: string) => {
      const answer = await gateway.fetch(path, { method, as: 'clerk', ...(body !== undefined && { body }) });
      return (await answer.json()) as { readonly id: string; readonly state: string };
    };
    const sheet = 'sequence,name,class,section,gender,dob,session,admitted_on\n';
    const row = 'C-1,Made by the clerk,5,A,female,2015-06-01,2026-27,2026-04-01\n';
    const { id } = await asked('POST', '/imports?collection=registration&name=clerk.csv', sheet + row);
    const is = async (state: string) => (await asked('GET', `/imports/${id}`)).state === state;
    await eventually(() => is('ready'));
    await asked('POST', `/imports/${id}/run`);
    await eventually(() => is('done'));
    const page = await pages.openPortalAs('clerk', `/portal/imports/${id}`);
    await page.getByText('Only someone who may change and remove these records can undo it.').waitFor();
    expect(await page.getByRole('button', { name: 'Undo the import' }).count()).toBe(0);
  });

  it('is told of a file without a byte, and takes the same one again once it was corrected', async () => {
    const page = await pages.openPortalAs('admin', '/portal/imports?collection=registration');
    const input = page.locator('input[type=file]');
    const file = { name: 'late.csv', mimeType: 'text/csv' };
    await input.setInputFiles({ ...file, buffer: Buffer.alloc(0) });
    await page.getByText('late.csv is empty: it has not one byte.').waitFor();
    // A browser tells of no change where the name is still held.
    expect(await input.inputValue()).toBe('');
    await input.setInputFiles({ ...file, buffer: Buffer.from(`${HEADER}\n${ROWS[0]}\n`) });
    await page.getByRole('heading', { level: 1, name: 'late.csv' }).waitFor();
    await page
      .getByText('1 row', { exact: true })
      .or(page.getByText(/ · 1 row$/))
      .first()
      .waitFor();
  });

  it('tells how much of a file has gone, is called off, and outlives the end of the session', async () => {
    const page = await pages.openPortalAs('admin', '/');
    const address = `${gateway.url}/portal/imports?collection=registration`;
    const token = await nextToken(page, () => page.goto(address));
    const file = { name: 'again.csv', mimeType: 'text/csv', buffer: Buffer.from(`${HEADER}\n${ROWS[0]}\n`) };
    let arrived = 0;
    // It gets no answer, as over a line that hangs.
    await page.route('**/imports?*', () => {
      arrived += 1;
    });
    await page.locator('input[type=file]').setInputFiles(file);
    await page.getByText(/ of 1\d\d bytes sent$/).waitFor();
    await eventually(() => arrived === 1);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('progressbar').waitFor({ state: 'hidden' });
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.unrouteAll();
    await gateway.fetch('/auth/logout', { method: 'POST', headers: { authorization: `Bearer ${token}` } });
    await page.locator('input[type=file]').setInputFiles({ ...file, name: 'after all.csv' });
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.getByLabel('Password').fill('demo-admin');
    await dialog.getByRole('button', { name: 'Log in', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'after all.csv' }).waitFor();
  });

  it('sends a file of 30,000 rows piece by piece, and goes on where the line was cut', async () => {
    const page = await pages.openPortalAs('admin', '/portal/imports?collection=registration');
    const pieces: string[] = [];
    await page.route('**/files/*', async (route) => {
      const request = route.request();
      if (request.method() !== 'PATCH') return await route.continue();
      pieces.push(request.headers()['upload-offset'] ?? '');
      await (pieces.length === 2 ? route.abort('internetdisconnected') : route.continue());
    });
    const text = 'x'.repeat(560);
    const rows = Array.from({ length: 30_000 }, (_, row) => `N-${row},Student ${row},5,A,F,,,,${text}`);
    await take(page, 'large.csv', rows);
    expect(pieces).toEqual(['0', '8388608', '8388608', '16777216']);
    await page.getByText('30,000 rows').first().waitFor();
    await page.getByLabel('Student Name goes to').waitFor();
    await page.unrouteAll();
  });

  it('shows a file that is none', async () => {
    const page = await pages.openPortalAs('admin', '/portal/imports?collection=registration');
    await page.locator('input[type=file]').setInputFiles({
      name: 'picture.pdf',
      mimeType: 'application/pdf',
      buffer: Buffer.from('%PDF-1.7 nothing'),
    });
    await page.getByText('This import failed').waitFor();
    await expectWellMade(page);
  });
});

/** A form that somebody is in the middle of, in a tab of its own. */
interface Unfinished {
  readonly page: Page;
  submit(): Promise<void>;
  /** What is written in it, to be found again. */
  written(): Promise<string>;
  isDone(): Promise<void>;
  /** It follows what happens, and finds out by itself that the session has ended. */
  readonly isFollowing?: boolean;
}

/** A dashboard, a report, an import, many records, a script and a webhook, each begun by one person. */
async function beginAll(text: string, order: string): Promise<readonly Unfinished[]> {
  const make = 'mutation { createDashboard(data: { title: "Old", owner: { id: "usr-admin" } }) { id } }';
  const { id } = (await ask(gateway, make)).createDashboard;
  const board = await pages.openPortalAs('admin', `/portal/dashboards/${id}`);
  const open = async (path: string) => {
    const page = await board.context().newPage();
    page.setDefaultTimeout(20_000);
    await page.goto(gateway.url + path);
    return page;
  };
  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
  await press(board, 'Title and sharing');
  await board.getByRole('textbox', { name: 'Title' }).fill(text);

  const report = await open('/portal/reports/fee-defaulters?startMonth=2026-04&endMonth=2026-11');
  await report.getByRole('textbox', { name: 'Minimum' }).fill('123');

  const file = await open('/portal/imports?collection=task');
  const sheet = { name: 'begun.csv', mimeType: 'text/csv', buffer: Buffer.from(`name\n${text}\n`) };
  await file.locator('input[type=file]').setInputFiles(sheet);
  await file.getByLabel('Save this mapping as').fill(text);
  const tried = file.getByRole('button', { name: 'Correct the columns' });

  const many = await open('/portal/records/fee_head?search=tuition');
  await many.getByRole('checkbox', { name: 'Select all loaded' }).check();
  await press(many, 'Change fields');
  await many.getByRole('combobox', { name: 'Fields' }).fill('Order');
  await many.getByRole('option', { name: 'Order' }).click();
  await many.getByRole('dialog').getByRole('textbox', { name: 'Order' }).fill(order);

  const script = await open(`/portal/scripts/${text.toLowerCase()}`);
  await script.getByLabel('Description').fill(text);

  const hook = await open('/portal/webhooks');
  await press(hook, 'New webhook');
  await hook.getByLabel('Name').fill(text);
  await hook.getByLabel('Address').fill('https://example.org/');
  return [
    {
      page: board,
      submit: () => press(board, 'Save'),
      written: () => board.getByRole('textbox', { name: 'Title' }).inputValue(),
      isDone: () => board.getByRole('heading', { level: 1, name: text }).waitFor(),
    },
    {
      page: report,
      submit: () => press(report, 'Run'),
      written: async () => {
        const input = report.getByRole('textbox', { name: 'Minimum' });
        if (await input.isVisible()) return await input.inputValue();
        // The form is folded while the report runs.
        const folded = await report
          .getByText(/Minimum: /)
          .last()
          .textContent();
        return /Minimum: (\d+)/.exec(folded ?? '')?.[1] ?? String(folded);
      },
      isDone: () => report.getByRole('group', { name: 'Fee defaulters' }).waitFor(),
    },
    {
      page: file,
      submit: () => press(file, 'Start dry run'),
      written: () => file.getByLabel('Save this mapping as').inputValue(),
      isDone: () => tried.waitFor(),
      isFollowing: true,
    },
    {
      page: many,
      submit: () => many.getByRole('button', { name: /^Change \d+ record/ }).click(),
      written: () => many.getByRole('dialog').getByRole('textbox', { name: 'Order' }).inputValue(),
      isDone: () => many.getByText(/^\d+ records? changed/).waitFor(),
    },
    {
      page: script,
      submit: () => press(script, 'Save'),
      written: () => script.getByLabel('Description').inputValue(),
      isDone: () => script.getByText('Saved.').waitFor(),
    },
    {
      page: hook,
      submit: () => press(hook, 'Create webhook'),
      written: () => hook.getByLabel('Name').inputValue(),
      isDone: () => hook.getByText('Webhook secret').waitFor(),
    },
  ];
}

describe('what somebody is in the middle of', () => {
  async function readAll(all: readonly Unfinished[]): Promise<readonly string[]> {
    return await Promise.all(all.map((one) => one.written()));
  }

  it('is told of a gateway that is started anew, and of the end of the session, and goes on', async () => {
    const all = await beginAll('Anew', '7');
    let token = '';
    all[0]?.page.context().on('request', (request) => {
      const { authorization } = request.headers();
      if (request.url().endsWith('/graphql') && authorization !== undefined) token = authorization;
    });
    await gateway.restart(async () => {
      for (const { page, submit } of all) {
        await submit();
        await page.getByRole('alert').getByText('The gateway cannot be reached').first().waitFor();
      }
    });
    const written = ['Anew', '123', 'Anew', '7', 'Anew', 'Anew'];
    expect(await readAll(all)).toEqual(written);
    for (const { page, submit, isDone, isFollowing } of all) {
      await gateway.fetch('/auth/logout', { method: 'POST', headers: { authorization: token } });
      await page.bringToFront();
      if (!isFollowing) await submit();
      const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
      await dialog.getByLabel('Password').waitFor();
      expect(await page.evaluate(() => document.activeElement?.closest('[role=dialog]') !== null)).toBe(true);
      await page.keyboard.press('Escape');
      await dialog.getByLabel('Password').fill('demo-admin');
      await dialog.getByRole('button', { name: 'Log in', exact: true }).click();
      await dialog.waitFor({ state: 'hidden' });
      if (isFollowing) await submit();
      await isDone();
    }
  });

  it('waits for the end of being offline, and is done then without another press', async () => {
    const all = await beginAll('Offline', '8');
    const context = all[0]?.page.context();
    await context?.setOffline(true);
    for (const { page, submit } of all) {
      await page.bringToFront();
      await submit();
      await page.getByText('You are offline.').waitFor();
    }
    expect(await readAll(all)).toEqual(['Offline', '123', 'Offline', '8', 'Offline', 'Offline']);
    await context?.setOffline(false);
    for (const { isDone } of all) await isDone();
  });
});
