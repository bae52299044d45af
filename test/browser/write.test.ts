/** Writing to the parents of a section in a real browser on a demo school: preview, sending, the outcome. */
import { expect, it } from '@jest/globals';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { usePages } from './use-pages.js';
import { expectWellMade } from './well-made.js';

const gateway = useDemoGateway({ students: 240 });
const pages = usePages(gateway);

it('fills in a text for each student of a section, names what is missing, and sends it once', async () => {
  const page = await pages.openPortalAs('clerk', '/portal/write?class=5&section=A');
  const count = page.getByText(/^\d+ students? · \d+ messages? · \d+ segments?$/);
  await count.waitFor();
  const [, students = '', messages = ''] =
    /^(\d+) students? · (\d+)/.exec((await count.textContent()) ?? '') ?? [];
  expect(Number(messages)).toBe(Number(students));
  await page.getByLabel('Text').fill('{{nme}} of {{class}}: the school is closed tomorrow.');
  await page.getByText(/^No student has a value for \{\{nme\}\}/).waitFor();
  await expect(page.getByRole('button', { name: /^Send/ }).isDisabled()).resolves.toBe(true);
  await page.getByLabel('Text').fill('{{name}} of {{class}} {{section}}: the school is closed tomorrow.');
  await page
    .getByText(/ of 5 A: the school is closed tomorrow\.$/)
    .nth(2)
    .waitFor();
  await expectWellMade(page);
  await page.getByRole('button', { name: `Send ${messages} messages` }).click();
  await page.getByRole('dialog').getByRole('button', { name: /^Send/ }).click();
  await page.getByText(`Kept, because the school has no provider for them: ${messages}`).waitFor();
  const response = await gateway.fetch(
    '/o/recs/sms_log?stream=true&where={"text":{"contains":"closed tomorrow"}}',
    { as: 'admin' },
  );
  const logged = (await response.json()) as { text: string; recipient: { label: string } }[];
  expect(logged).toHaveLength(Number(messages));
  expect(logged.every(({ text, recipient }) => text.startsWith(recipient.label))).toBe(true);
});

it('is the way to a text message: no new record of the log is offered', async () => {
  const page = await pages.openPortalAs('clerk', '/portal/records/sms_log');
  await page.getByRole('link', { name: 'Write to parents' }).nth(1).waitFor();
  await expect(page.getByRole('link', { name: 'New record' }).count()).resolves.toBe(0);
});

it('reaches all students', async () => {
  const page = await pages.openPortalAs('clerk', '/portal/write');
  await page.getByLabel('To the parents of').click();
  await page.getByRole('option', { name: 'All students' }).click();
  await page.getByText(/^\d{3} students · \d+ messages · /).waitFor();
});

it('reminds those who owe fees by text messages, for an accountant', async () => {
  const page = await pages.openPortalAs('accountant', '/portal/write?set=defaulters');
  await page.getByText(/^\d+ students · \d+ messages · \d+ segments$/).waitFor();
  await page
    .getByText(/^Dear parent, ₹[\d,.]+ is due for /)
    .first()
    .waitFor();
  await page.getByRole('button', { name: /^Send \d+ messages$/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: /^Send/ }).click();
  await page.getByText(/^Kept, because the school has no provider for them: \d+$/).waitFor();
});
