/** The search over everything in a real browser on a demo school, and what Home says is to be done. */
import { expect, it } from '@jest/globals';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { usePages } from './use-pages.js';
import { expectWellMade } from './well-made.js';

const gateway = useDemoGateway({ students: 240 });
const pages = usePages(gateway);

async function aStudent(): Promise<Record<string, string>> {
  const response = await gateway.fetch('/o/recs/registration?stream=true&oquery=class%3D5', { as: 'admin' });
  const [student = {}] = (await response.json()) as Record<string, string>[];
  return student;
}

it('finds a student by a part of the phone, and shows class, section and number', async () => {
  const student = await aStudent();
  const page = await pages.openPortalAs('clerk', '/portal/reports');
  await page.getByRole('heading', { name: 'Reports' }).waitFor();
  await page.keyboard.press('Control+k');
  const field = page.getByRole('combobox', { name: 'Search everything' });
  await field.fill(String(student.guardian_phone).slice(-7));
  const beside = `${student.class} ${student.section} · ${student.sequence}`;
  const option = page.getByRole('option', { name: new RegExp(beside) });
  await option.waitFor();
  await expectWellMade(page);
  await field.press('Enter');
  await page.waitForURL(/\/portal\/records\/registration\/stu-/);
  await page.keyboard.press('Control+k');
  await field.fill('promote');
  await page.getByRole('option', { name: /^Promote students\s+Page$/ }).waitFor();
  await page
    .getByRole('option', { name: /Manual$/ })
    .first()
    .waitFor();
});

it('finds no student for a viewer by a phone that the role does not see, nor a page of others', async () => {
  const page = await pages.openPortalAs('viewer', '/');
  await page.keyboard.press('Control+k');
  const field = page.getByRole('combobox', { name: 'Search everything' });
  await field.fill(String((await aStudent()).guardian_phone));
  await page.getByText('Nothing found').waitFor();
  await field.fill('Receive fee');
  await expect(page.getByRole('option', { name: /Page$/ }).count()).resolves.toBe(0);
});

it('says on Home what waits for the clerk, and leads there', async () => {
  const page = await pages.openPortalAs('clerk', '/');
  await page.getByRole('link', { name: /^Decide on leave: \d/ }).click();
  await page.waitForURL(/\/portal\/records\/leave_request/);
});
