/** What the portal says where the gateway refuses what was entered, in a real browser, on a demo school. */
import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { logIn, usePages } from './use-pages.js';
import { expectWellMade } from './well-made.js';

const gateway = useDemoGateway({ students: 36 });
const pages = usePages(gateway);

/** A page in Hindi, which the log-in of the tests does not read. */
async function openInHindi(userName: string, path: string): Promise<Page> {
  const page = await pages.open('/');
  await logIn(page, userName);
  await page.evaluate(() => localStorage.setItem('campus-portal-language', 'hi'));
  await page.goto(gateway.url + path);
  await page.locator('html[lang=hi]').waitFor();
  return page;
}

describe('a record that is refused', () => {
  it('says at the field that it is required, and goes there', async () => {
    const page = await pages.openPortalAs('admin', '/portal/records/task/new');
    await page.getByLabel('Name').fill('   ');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('alert').getByText('Not saved: one field is to be corrected.').waitFor();
    const field = page.getByRole('textbox', { name: /^Name/ });
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    expect(await field.evaluate((input) => input === document.activeElement)).toBe(true);
    await page.getByText('This field is required.').waitFor();
    await expect(page.getByText('Something went wrong').count()).resolves.toBe(0);
    await expectWellMade(page);
  });

  it('says which value another record has, in the language of the page', async () => {
    const page = await openInHindi('clerk', '/portal/records/registration/stu-00002?tab=fields');
    const [first] = (await (
      await gateway.fetch('/o/recs/registration?limit=1&oquery=_id=stu-00001', { as: 'admin' })
    ).json()) as { readonly sequence: string }[];
    await page
      .locator('.record-form input')
      .first()
      .fill(first?.sequence ?? '');
    await page.locator('.form-foot button[type=submit]').click();
    await page.getByText('यह मान पहले से किसी और अभिलेख का है।').waitFor();
    await page.getByText('सहेजा नहीं गया: एक खाना ठीक करना है।').waitFor();
  });
});

describe('the words of a refusal', () => {
  it('are Hindi where the page is, and known by their request', async () => {
    const page = await openInHindi('clerk', '/portal/account');
    const passwords = page.locator('input[type=password]');
    await passwords.nth(0).fill('wrong-password');
    await passwords.nth(1).fill('another-password-1');
    await passwords.nth(2).fill('another-password-1');
    await page.getByRole('button', { name: 'पासवर्ड बदलें' }).click();
    const alert = page.getByRole('alert');
    await alert.getByText('मौजूदा पासवर्ड ग़लत है।').waitFor();
    await alert.getByText(/WRONG_LOGIN/).waitFor();
    await alert.getByText('कृपया जाँचें कि आपने क्या लिखा').waitFor();
  });

  it('stay English, and are marked so, where they have no Hindi', async () => {
    const page = await openInHindi('admin', '/portal/records/registration?oquery=name');
    const english = page.getByRole('alert').locator('[lang=en]');
    await english.waitFor();
    expect(await english.textContent()).not.toBe('');
  });
});

describe('a page about something that is not there', () => {
  it('leads back to the records of its collection, and looks for the one that was meant', async () => {
    const page = await pages.openPortalAs('admin', '/portal/records/registration/nobody');
    await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor();
    await expectWellMade(page);
    await page.getByRole('searchbox', { name: 'Find a record' }).fill('a');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await page.waitForURL(/\/portal\/records\/registration\?search=a$/);
    await page.goBack();
    await page.getByRole('link', { name: 'Students', exact: true }).click();
    await page.waitForURL(/\/portal\/records\/registration$/);
  });

  it('leads back to the dashboards from one that is gone', async () => {
    const page = await pages.openPortalAs('admin', '/portal/dashboards/gone');
    await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor();
    await page.locator('.page-head').getByRole('link', { name: 'Dashboards' }).click();
    await page.getByRole('heading', { level: 1, name: 'Dashboards' }).waitFor();
  });
});

describe('an address', () => {
  it('with a value that a report does not have says so as of what was entered', async () => {
    const address =
      '/portal/reports/daily-fee-collection?from=2026-11-01&to=2026-11-20&paymentType=GOLD&run=1';
    const page = await pages.openPortalAs('accountant', address);
    const alert = page.getByRole('alert');
    await alert.getByText('Please check what you entered').waitFor();
    await alert.getByText(/GOLD/).waitFor();
    await expectWellMade(page);
  });
});
