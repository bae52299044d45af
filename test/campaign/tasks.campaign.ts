/**
 * The tasks of docs/tasks.md: each person does theirs, one after the other, from a log-in on and by the
 * menu. With TASK_PICTURES=<folder> the last page of each person is kept there as a picture, and the explorer
 * and the home page as the README shows them: the pictures of docs/images.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { openExample, usePages } from '../browser/use-pages.js';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { campaign } from './campaign.js';
import { PersonAtWork, type Tasks } from './person-at-work.js';
import { tasksOfProgrammers } from './tasks-of-programmers.js';
import { ACCOUNTANT, ANALYST, CLERK, PRINCIPAL, TEACHER } from './tasks-of-school.js';

const gateway = useDemoGateway({ students: 240 }, { IMPORT_ROLES: 'admin,clerk' });
const pages = usePages(gateway);
const { developer, operator } = tasksOfProgrammers(gateway);

/** The heading of docs/tasks.md, who logs in, and what they do. */
const PEOPLE: readonly (readonly [heading: string, user: string, tasks: Tasks])[] = [
  ['A clerk', 'clerk', CLERK],
  ['A teacher', 'teacher', TEACHER],
  ['An accountant', 'accountant', ACCOUNTANT],
  ['A principal', 'admin', PRINCIPAL],
  ['An analyst', 'viewer', ANALYST],
  ['A developer', 'admin', developer],
  ['An operator', 'admin', operator],
];

const VIEWPORT = { width: 1280, height: 800 };
const { TASK_PICTURES: folder } = process.env;

describe('the portal', () => {
  it('is tried by the tasks that stand in the documents', () => {
    const document = readFileSync('docs/tasks.md', 'utf8');
    for (const [heading, , tasks] of PEOPLE) {
      const section = document.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
      const listed = [...section.matchAll(/^\d+\. (.*)$/gm)].map(([, title]) => title);
      expect({ heading, listed }).toEqual({ heading, listed: Object.keys(tasks) });
    }
  });

  campaign('lets everybody do their tasks without reading anything first', async ({ seed, count }) => {
    const failures: string[] = [];
    for (const [heading, user, tasks] of PEOPLE) {
      const page = await pages.openPortalAs(user, '/', { viewport: VIEWPORT });
      const person = new PersonAtWork(page, String(seed % 1_000_000));
      for (const [title, act] of Object.entries(tasks)) {
        try {
          await act(person);
          count('tasks');
        } catch (fault) {
          failures.push(`${heading}: ${title}, at ${page.url()}: ${String(fault).slice(0, 400)}`);
          await page.goto(gateway.url);
        }
      }
      const name = heading.split(' ').at(-1) ?? heading;
      if (folder) await page.screenshot({ path: path.join(folder, `tasks-${name}.png`) });
      await page.context().close();
    }
    if (folder) {
      const page = await pages.openAs('admin', { viewport: VIEWPORT });
      await openExample(page, 'Collection by month and way of paying');
      await page.getByRole('tab', { name: 'Chart' }).click();
      await page.getByRole('img', { name: /^line chart/ }).waitFor();
      await page.getByLabel('Kind').selectOption('bar');
      await page.getByRole('img', { name: /^bar chart/ }).waitFor();
      await page.screenshot({ path: path.join(folder, 'explore.png') });
      const home = await pages.openPortalAs('admin', '/', { viewport: VIEWPORT });
      await home.waitForLoadState('networkidle');
      await home.screenshot({ path: path.join(folder, 'home.png') });
    }
    expect(failures).toEqual([]);
  });
});
