/** Names that nobody thought of, and the pages they stand on, in a real browser, on a demo school. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { usePages } from './use-pages.js';
import { expectWellMade } from './well-made.js';

const gateway = useDemoGateway({ students: 36 });
const pages = usePages(gateway);

/** One word, as some languages and all machines make them. */
const WORD = 'Donaudampfschifffahrtsgesellschaftskapitän'.repeat(4);
const RIGHT_TO_LEFT = 'محمد بن عبد الله بن أحمد الخوارزمي الأندلسي';
const NAMES = [
  WORD,
  '<b>Bold</b><script>alert(1)</script>',
  'مُحَمَّد بن عبد الله',
  '👩‍👩‍👧‍👦🇮🇳🎓',
  RIGHT_TO_LEFT,
];
const SCRIPT = `s${'x'.repeat(60)}`;

describe('a page with long texts', () => {
  beforeAll(async () => {
    await ask(
      'mutation ($students: [JSON!]!, $definition: JSON!, $script: SaveScriptInput!) {' +
        ' createRecords(collection: "registration", data: $students) { id }' +
        ' registerCollection(definition: $definition) { name }' +
        ' saveScript(script: $script) { name } }',
      {
        students: NAMES.map((name, index) => ({
          ...{ _id: `long-${index}`, sequence: `GV-9000${index}`, name, class: '1', section: 'A' },
          ...{ session: '2026-27', admitted_on: '2026-04-01', father_name: WORD, email: 'long@mail.example' },
        })),
        definition: {
          name: 'long_texts',
          title: WORD.slice(0, 80),
          description: WORD,
          fields: [{ name: 'name', type: 'text', description: WORD }],
        },
        script: { name: SCRIPT, description: WORD, code: `console.log(${JSON.stringify(WORD)})` },
      },
    );
    for (const index of NAMES.keys())
      await ask('mutation ($data: JSON!) { createRecord(collection: "leave_request", data: $data) { id } }', {
        data: {
          ...{ created_on: '2026-11-20', name: { value: `long-${index}` }, kind: 'student' },
          ...{ from: '2026-11-23', to: '2026-11-24', status: 'pending', reason: WORD },
        },
      });
  });

  it.each([
    ['/', 'Home'],
    ['/portal/collections', 'Collections'],
    [`/portal/scripts/${SCRIPT}`, SCRIPT],
    ['/portal/records/registration/long-0?tab=history', WORD],
    ['/portal/records/registration/long-0?tab=references', WORD],
  ])('%s is well made', async (path, heading) => {
    const page = await pages.openPortalAs('admin', path);
    await page.getByRole('heading', { level: 1, name: heading }).waitFor();
    await page.waitForLoadState('networkidle');
    await expectWellMade(page);
  });

  it('keeps its dialogs within their room, and their button to close in sight', async () => {
    await ask(
      'mutation ($name: String!, $s: JSON!) { createApiKey(data: { name: $name, scopes: $s }) { id } }',
      {
        name: WORD.slice(0, 100),
        s: { collections: { task: ['read'] }, reports: [], scripts: [] },
      },
    );
    const page = await pages.openPortalAs('admin', '/portal/keys');
    await page.getByRole('button', { name: /^Rotate/ }).click();
    await page.getByRole('dialog', { name: /^Rotate/ }).waitFor();
    await expectWellMade(page);
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('dialog', { name: /^Rotate/ }).waitFor({ state: 'detached' });
  });

  it('shows them as they are written', async () => {
    const page = await pages.openPortalAs('admin', '/portal/records/registration?find=Bold');
    await page.getByRole('link', { name: '<b>Bold</b><script>alert(1)</script>' }).waitFor();
    expect(await page.locator('#content b').count()).toBe(0);
  });

  it('cuts a name written from right to left at its end', async () => {
    const found = encodeURIComponent('الخوارزمي');
    const page = await pages.openPortalAs('admin', `/portal/records/registration?find=${found}`);
    const link = page.getByRole('link', { name: RIGHT_TO_LEFT });
    await link.waitFor();
    const isBeginningShown = await link.evaluate((one) => {
      const first = document.createRange();
      const text = one.firstChild as Text;
      first.setStart(text, 0);
      first.setEnd(text, 1);
      const letter = first.getBoundingClientRect();
      const cell = one.closest('td')?.getBoundingClientRect();
      return cell !== undefined && letter.left >= cell.left && letter.right <= cell.right;
    });
    expect(isBeginningShown).toBe(true);
  });
});

async function ask(query: string, variables: Readonly<Record<string, unknown>>): Promise<void> {
  const answer = await gateway.fetch('/graphql', {
    method: 'POST',
    as: 'admin',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  expect(await answer.json()).not.toHaveProperty('errors');
}
