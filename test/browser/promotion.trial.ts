/** Promoting students to the next session, in a real browser on a demo school. */
import { expect, it } from '@jest/globals';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { ask } from '../contract/graphql.js';
import { usePages } from './use-pages.js';
import { expectWellMade } from './well-made.js';

const gateway = useDemoGateway({ students: 40 });
const pages = usePages(gateway);

async function isAnyoneIn(session: string): Promise<boolean> {
  const query =
    'query ($oquery: String) ' +
    '{ records(collection: "registration", oquery: $oquery, first: 1) { nodes { id } } }';
  const { records } = await ask(gateway, query, {
    variables: { oquery: `session=${session}` },
    as: 'admin',
  });
  return records.nodes.length > 0;
}

it('shows every student first, takes exceptions, and is undone at once', async () => {
  const page = await pages.openPortalAs('admin', '/portal/promotion');
  await page.getByRole('button', { name: 'Show every student' }).click();
  const first = page.getByLabel(/: exception$/).first();
  await first.waitFor();
  await expectWellMade(page);
  await first.click();
  await page.getByRole('option', { name: /^Stays in / }).click();
  await page.getByText(/, 1 stay, /).waitFor();
  expect(await isAnyoneIn('2027-28')).toBe(false);
  await page.getByRole('button', { name: 'Promote students' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Promote students' }).click();
  await page.getByText(/\d+ students promoted\./).waitFor();
  expect(await isAnyoneIn('2027-28')).toBe(true);
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText(/records restored\./).waitFor();
  expect(await isAnyoneIn('2027-28')).toBe(false);
});
