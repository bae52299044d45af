/** A gateway without the demo, from its first start to the first people at work, in a real browser. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { type App, createApp } from '../../src/gateway/compose/app.js';
import type { Services } from '../../src/gateway/compose/services.js';
import { parseConfig } from '../../src/gateway/config/config.js';
import { DEFAULT_SETTINGS } from '../contract/gateway.js';
import { createTestDatabase } from '../database.js';
import { nextToken, usePages } from './use-pages.js';
import { expectWellMade } from './well-made.js';

/** One that has no school, on an empty database. */
function useEmptyGateway(): { readonly url: string; readonly services: Services } {
  let app: App | undefined;
  let url = '';
  let drop: (() => Promise<void>) | undefined;
  beforeAll(async () => {
    const database = await createTestDatabase();
    drop = database.drop;
    app = await createApp(parseConfig({ ...DEFAULT_SETTINGS, DATABASE_URL: database.url }));
    url = await app.listen();
  });
  afterAll(async () => {
    await app?.close();
    await drop?.();
  });
  return {
    get url() {
      return url;
    },
    get services() {
      if (!app) throw new Error('The gateway exists only while tests run');
      return app.services;
    },
  };
}

describe('the first start on an empty database', () => {
  const gateway = useEmptyGateway();
  const pages = usePages(gateway);

  it('says at the log-in that there is no school yet, and where the way to one is', async () => {
    const page = await pages.open('/');
    await page.getByRole('alert').getByText('No school has been set up yet').waitFor();
    await expectWellMade(page);
  });

  it('leads by its link to a page that makes the school and logs in, once', async () => {
    const link = `/first-run#${await gateway.services.firstRun.offer()}`;
    const page = await pages.open(link);
    await page.getByLabel('Name of the school').fill('St. Mary’s School, Pune');
    expect(new URL(page.url()).hash).toBe('');
    expect(await page.getByLabel('Short name').inputValue()).toBe('st-marys-school-pune');
    await page.getByLabel('Short name').fill('a school');
    await page.getByLabel('Your name').fill('Asha Rao');
    await page.getByLabel('User name').fill('asha');
    await page.getByLabel('New password').fill('correct horse');
    await page.getByLabel('Confirm password').fill('correct house');
    await expectWellMade(page);
    const make = page.getByRole('button', { name: 'Make the school' });
    await make.click();
    expect(
      await page.getByLabel('Short name').evaluate((input: HTMLInputElement) => input.validity.valid),
    ).toBe(false);
    await page.getByLabel('Short name').fill('st-marys');
    await make.click();
    await page.getByText('The passwords do not match.').waitFor();
    await page.getByLabel('Confirm password').fill('correct horse');
    const late = await pages.open(link);
    await late.getByLabel('Name of the school').waitFor();
    await make.click();
    await page.getByRole('button', { name: 'Account of asha' }).waitFor();
    await page.getByText('St. Mary’s School, Pune').waitFor();
    await page.getByRole('link', { name: 'People' }).waitFor();
    const steps = page.getByRole('region', { name: 'First steps' });
    await steps.getByRole('link', { name: 'Invite staff' }).waitFor();
    expect(await page.locator('.tile').count()).toBe(0);

    for (const [field, text] of [
      ['Name of the school', 'Another'],
      ['Your name', 'Mallory'],
      ['User name', 'mallory'],
      ['New password', 'correct horse'],
      ['Confirm password', 'correct horse'],
    ] as const)
      await late.getByLabel(field).fill(text);
    await late.getByRole('button', { name: 'Make the school' }).click();
    await late.getByText('This link does not work any more').waitFor();
    await expectWellMade(late);
    const wrong = await pages.open('/first-run#cgl_none', { locale: 'hi' });
    await wrong.getByText('यह लिंक अब काम नहीं करता').waitFor();
  });
});

describe('a school that has nothing yet', () => {
  const gateway = useEmptyGateway();
  const pages = usePages(gateway);
  beforeAll(async () => {
    const { firstRun } = gateway.services;
    const admin = { userName: 'asha', name: 'Asha Rao', password: 'correct horse' };
    const school = { id: 'st-marys', name: 'St. Mary’s School', timeZone: 'Asia/Kolkata', admin };
    await firstRun.make((await firstRun.offer()) ?? '', school);
  });

  async function logInAsAdmin(path: string): Promise<Page> {
    const page = await pages.open(path);
    await page.getByLabel('User name').fill('asha');
    await page.getByLabel('Password').fill('correct horse');
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    await page.locator('#content').waitFor();
    return page;
  }

  it('says in the audit, in both languages, that its set-up made its admin', async () => {
    const page = await logInAsAdmin('/portal/audit');
    await page.getByRole('cell', { name: 'Set-up of the school', exact: true }).first().waitFor();
    await page.evaluate(() => localStorage.setItem('campus-portal-language', 'hi'));
    await page.reload();
    await page.getByRole('cell', { name: 'विद्यालय का आरंभ', exact: true }).first().waitFor();
    expect(await page.getByText('first run').count()).toBe(0);
    await page.evaluate(() => localStorage.setItem('campus-portal-language', 'en'));
  });

  it('is begun by steps, each with its page, and says which are done', async () => {
    const page = await logInAsAdmin('/');
    const steps = page.getByRole('region', { name: 'First steps' });
    await steps.getByRole('link', { name: 'Add classes' }).waitFor();
    await expectWellMade(page);
    await steps.getByRole('link', { name: 'Add classes' }).click();
    await page.getByRole('link', { name: 'Create the first one' }).click();
    // The list stays until the form is there, and can be searched by name.
    await page.getByRole('heading', { name: 'New record' }).waitFor();
    await page.getByLabel('Name').fill('1');
    await page.getByLabel('Category').fill('Primary');
    await page.getByRole('button', { name: 'Add to Sections' }).click();
    await page.getByRole('textbox', { name: /^Name/ }).nth(1).fill('A');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('tab', { name: 'History' }).waitFor();
    await page.getByRole('navigation').getByRole('link', { name: 'Home' }).click();
    await steps.getByRole('link', { name: 'Done: Add classes' }).waitFor();

    const token = await nextToken(page, () => page.reload());
    const asAdmin = async (query: string) => {
      const response = await fetch(`${gateway.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify({ query }),
      });
      const answer = await response.json();
      expect(answer).not.toHaveProperty('errors');
      return answer.data;
    };
    const change = async (mutation: string) => {
      const changed = await asAdmin(`mutation { ${mutation} }`);
      await page.reload();
      await steps.getByRole('link', { name: 'Done: Add classes' }).waitFor();
      return changed;
    };
    const set = (name: string, value: string) =>
      change(`setDomainProperty(name: "${name}", value: ${value}) { name }`);
    await set('mailFrom', '"office@school.example"');
    await set('schoolName', '"St. Mary’s School"');
    const settle = steps.getByRole('listitem').filter({ hasText: 'Set up the school' });
    await settle.getByText('Still to set: weeklyOffs, sessionFirstMonth, grades').waitFor();
    expect(await steps.getByRole('link', { name: 'Done: Set up the school' }).count()).toBe(0);
    await set('weeklyOffs', '["SU"]');
    await set('sessionFirstMonth', '4');
    await set('grades', '[{ from: 40, grade: "Pass" }, { from: 0, grade: "Fail" }]');
    await steps.getByRole('link', { name: 'Done: Set up the school' }).waitFor();
    const invite = 'inviteUser(data: { userName: "gone", name: "Gone", roles: ["clerk"] }) { userId }';
    const { inviteUser } = await change(invite);
    await steps.getByRole('link', { name: 'Done: Invite staff' }).waitFor();
    await change(`setUserActive(userId: "${inviteUser.userId}", isActive: false) { id }`);
    await steps.getByRole('link', { name: 'Invite staff' }).waitFor();
    expect(await steps.getByRole('link', { name: 'Done: Invite staff' }).count()).toBe(0);
    await expectWellMade(page);

    await steps.getByRole('link', { name: 'Import students' }).click();
    const heads = 'Sequence,Name,Class,Section,Gender,DOB,Session,Admitted on,Status';
    const row = 'S1,Meera Nair,1,A,female,01/06/2015,2026-27,31/03/2026,active';
    const buffer = Buffer.from(`${heads}\n${row}\n`);
    await page.getByRole('button', { name: 'Choose a file' }).waitFor();
    const file = { name: 'students.csv', mimeType: 'text/csv', buffer };
    await page.locator('input[type=file]').setInputFiles(file);
    await page.getByRole('button', { name: 'Start dry run' }).click();
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Import', exact: true }).click();
    await page.getByRole('link', { name: 'See the records' }).click();
    await page.getByRole('link', { name: 'Meera Nair' }).waitFor();
    await page.getByRole('navigation').getByRole('link', { name: 'Home' }).click();
    await page.getByRole('region', { name: 'Strength' }).waitFor();
    await steps.waitFor({ state: 'hidden' });
  });

  it('has a next step on its empty pages', async () => {
    const page = await logInAsAdmin('/portal/account');
    for (const [path, told] of [
      ['/portal/records/fee_due', 'Import a file'],
      ['/portal/dashboards', 'Create the first one'],
      ['/portal/keys', 'Create the first one'],
      ['/portal/webhooks', 'Create the first one'],
      ['/portal/scripts', 'Write the first one'],
      ['/portal/records/fee_due?oquery=month%3D2026-04', 'Clear the filter'],
      ['/portal/reports/day-sheet?run=1', 'No records match these options.'],
    ] as const) {
      await page.goto(gateway.url + path);
      await page.getByText(told).waitFor();
    }
    await page.goto(`${gateway.url}/portal/records/fee_due`);
    await page.getByRole('link', { name: 'Import a file' }).waitFor();
    await expectWellMade(page);
  });

  it('is joined by a teacher, who is told what is not there, and what is not theirs', async () => {
    const page = await logInAsAdmin('/portal/people');
    await page.getByRole('button', { name: 'Invite a user' }).click();
    const form = page.getByRole('dialog', { name: 'Invite a user' });
    await form.getByLabel('User name').fill('farida');
    await form.getByLabel(/^Name/).fill('Farida Khan');
    await form.getByRole('combobox', { name: 'Roles' }).fill('teach');
    await page.getByRole('option', { name: 'teacher', exact: true }).click();
    await page.keyboard.press('Tab');
    await form.getByRole('button', { name: 'Invite', exact: true }).click();
    const link = new URL((await page.getByText(/\/welcome#/).textContent()) ?? '');
    const teacher = await pages.open(link.pathname + link.hash);
    await teacher.getByLabel('New password').fill('another horse');
    await teacher.getByLabel('Confirm password').fill('another horse');
    await teacher.getByRole('button', { name: 'Set the password and log in' }).click();
    await teacher
      .getByText(/No attendance was marked on|is not a school day/)
      .first()
      .waitFor();
    expect(await teacher.getByRole('alert').count()).toBe(0);
    expect(await teacher.getByRole('region', { name: 'First steps' }).count()).toBe(0);
    await teacher.goto(`${gateway.url}/portal/records/registration`);
    await teacher.getByText('Nothing here yet that your role may see.').waitFor();
    await expectWellMade(teacher);
  });
});
