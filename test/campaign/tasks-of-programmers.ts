/** What people do in the portal who make programs, or keep the gateway running; see docs/tasks.md. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect } from '@jest/globals';
import { campus } from '../cli/campus.js';
import type { DemoGateway } from '../contract/demo-gateway.js';
import type { PersonAtWork, Tasks } from './person-at-work.js';

const run = promisify(execFile);

export function tasksOfProgrammers(gateway: DemoGateway): {
  readonly developer: Tasks;
  readonly operator: Tasks;
} {
  return { developer: tasksOfDeveloper(gateway), operator: tasksOfOperator(gateway) };
}

function tasksOfDeveloper(gateway: DemoGateway): Tasks {
  let key = '';
  const nameOf = ({ stamp }: PersonAtWork) => `nightly-${stamp}`;
  const statusWith = async (secret: string, where = '/o/recs/task?limit=1') => {
    const headers = { authorization: `Bearer ${secret}` };
    return (await gateway.fetch(where, { headers })).status;
  };
  const shownKey = async (person: PersonAtWork) => {
    const shown = (await person.dialog('Your new key').locator('pre').textContent()) ?? '';
    await person.button('I have saved a copy').click();
    return shown.trim();
  };
  return {
    'Make a key for the tasks alone': async (person) => {
      await person.goesTo('API keys');
      await person.button('New key').first().click();
      const form = person.dialog('New API key');
      await form.getByRole('textbox', { name: 'Name', exact: true }).fill(nameOf(person));
      await form.getByRole('searchbox', { name: 'Find a collection' }).fill('task');
      await form.getByRole('checkbox', { name: 'Tasks', exact: true }).check();
      await form.getByRole('button', { name: 'Create key' }).click();
      key = await shownKey(person);
      expect(await statusWith(key)).toBe(200);
    },
    'Send the first request as it is copied': async (person) => {
      await person.goesTo('Start here');
      const keys = person.page.getByLabel('Key', { exact: true });
      const names = await keys.locator('option').allTextContents();
      await keys.selectOption({ index: names.findIndex((name) => name.includes(nameOf(person))) });
      await person.page.getByRole('tab', { name: 'curl' }).click();
      const code = (await person.page.getByRole('tabpanel').locator('pre').textContent()) ?? '';
      const { stdout } = await run('bash', ['-c', code], { env: { ...process.env, CAMPUS_KEY: key } });
      expect(stdout).toContain('_id');
    },
    'Download the schema and OpenAPI': async (person) => {
      for (const name of ['GraphQL schema', 'OpenAPI']) {
        const file = await person.takesFile(() => person.button(new RegExp(`^${name}`)).click());
        expect(file.length).toBeGreaterThan(1000);
      }
    },
    'See what the key was used for, and what it was refused': async (person) => {
      expect(await statusWith(key, '/o/recs/registration?limit=1')).toBe(403);
      await person.goesTo('API keys');
      await person.page
        .getByRole('link', { name: nameOf(person) })
        .first()
        .click();
      await person.sees('cell', '403');
      await person.page.getByRole('img', { name: 'Requests by hour' }).waitFor();
    },
    'Try a path in the REST documentation': async (person) => {
      const docs = await person.page.context().newPage();
      await docs.goto(`${gateway.url}/docs`);
      await docs.getByText('Requests are sent as admin.').waitFor();
      await docs.locator('.opblock-tag').first().waitFor();
      await docs.close();
    },
    'Run a query of the library in the explorer': async (person) => {
      await person.page.getByRole('navigation').getByRole('link', { name: 'GraphQL explorer' }).click();
      await person.sees('heading', 'Operations library');
      await person.page.locator('.graphiql-query-editor .view-line').first().waitFor();
      await person.page
        .getByRole('button', { name: /^Execute/ })
        .first()
        .click();
      await person.page.goto(gateway.url);
    },
    'Make a webhook': async (person) => {
      await person.goesTo('Webhooks');
      await person.button('New webhook').first().click();
      const form = person.dialog('New webhook');
      await form.getByRole('textbox', { name: 'Name' }).fill(`ledger-${person.stamp}`);
      await form.getByRole('textbox', { name: 'Address' }).fill('https://ledger.example/hook');
      await form.getByLabel('Collection').selectOption({ label: 'Tasks' });
      await form.getByRole('button', { name: 'Create webhook' }).click();
      const secret = person.dialog('Webhook secret');
      await secret.getByText(/^whsec_/).waitFor();
      await secret.getByRole('button', { name: 'I have saved a copy' }).click();
    },
    'Pause the webhook': async (person) => {
      await person.page.getByRole('link', { name: `ledger-${person.stamp}` }).click();
      await person.button('Pause').click();
      await person.reads('Paused');
    },
    'Rotate the key, both of which hold for a while': async (person) => {
      await person.goesTo('API keys');
      await person.button(`Rotate ${nameOf(person)}`).click();
      await person.button('Rotate').last().click();
      const second = await shownKey(person);
      expect([await statusWith(key), await statusWith(second)]).toEqual([200, 200]);
    },
    'Revoke a key': async (person) => {
      await person
        .button(`Revoke ${nameOf(person)}`)
        .nth(1)
        .waitFor();
      await person
        .button(`Revoke ${nameOf(person)}`)
        .first()
        .click();
      await person.dialog().getByRole('button', { name: 'Revoke', exact: true }).click();
      await person.reads(`${nameOf(person)} is revoked.`);
    },
  };
}

function tasksOfOperator(gateway: DemoGateway): Tasks {
  const command = async (...words: string[]) => {
    const ended = await campus(words, { environment: { DATABASE_URL: gateway.databaseUrl } });
    expect({ words, ...ended }).toMatchObject({ code: 0 });
    return ended.output + ended.errors;
  };
  return {
    'See the version, the migrations and what waits': async (person) => {
      await person.goesTo('Health');
      await person.page.getByText(/^\d+ migrations applied$/).click();
      await person.reads('0001_initial');
    },
    'Back up by the command line, and verify the backup': async () => {
      const folder = await mkdtemp(path.join(tmpdir(), 'campus-tasks-'));
      try {
        await command('backup', path.join(folder, 'backup'));
        expect(await command('verify', path.join(folder, 'backup'))).toContain('rows');
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
    'See in the portal when the last backup was': async (person) => {
      await person.page.reload();
      await person.reads(/No backups yet/i);
    },
    'Switch maintenance on and off': async () => {
      expect(await command('maintenance', 'on')).toContain('on');
      expect(await command('maintenance', 'off')).toContain('off');
    },
    'See on the command line which migrations are applied': async () => {
      expect(await command('migrate', 'status')).toMatch(/appl/i);
    },
    'Find a user, and where they are logged in': async (person) => {
      await person.goesTo('People');
      await person.page.getByRole('searchbox').fill('clerk');
      await person.page
        .getByRole('row', { name: /^\S+ \S+ clerk / })
        .getByRole('link')
        .click();
      await person.page.getByRole('tab', { name: 'Sessions' }).click();
      await person.page.getByRole('row').nth(1).waitFor();
    },
    'Log that user out everywhere': async (person) => {
      await person.button('Log out everywhere').click();
      await person.dialog().getByRole('button', { name: 'Log out everywhere' }).click();
      await person.reads('No sessions');
    },
    'Declare a collection of one’s own': async (person) => {
      await person.goesTo('Collections');
      await person.button('New collection').click();
      await person.page.getByLabel('Name').first().fill(`library_book_${person.stamp}`);
      await person.button('Create collection').click();
      await person.field('Name of the field').fill('shelf');
      await person.button('Add the field').click();
      await person.button('Preview changes').click();
      await person.page.getByRole('row', { name: /^fields\/shelf Added/ }).waitFor();
      await person.savesChanges();
    },
    'Write a script, and run it': async (person) => {
      await person.goesTo('Scripts');
      await person.button('New script').first().click();
      await person.dialog().getByLabel('Name').fill(`greet${person.stamp}`);
      await person.button('Create script').click();
      await person.page.getByRole('textbox', { name: /^Code of/ }).click();
      await person.page.keyboard.press('ControlOrMeta+a');
      await person.page.keyboard.press('Backspace');
      await person.page.keyboard.type('export default () => "Hello";');
      await person.button('Save').click();
      await person.page.getByRole('tab', { name: 'Run', exact: true }).click();
      await person.button('Run').click();
      await person.page.getByRole('group', { name: 'Result' }).getByText('"Hello"').waitFor();
    },
    'Take the audit of the school as a file': async (person) => {
      await person.goesTo('Audit');
      const file = await person.takesFile(() => person.button('Download CSV').click());
      expect(file.toString().split('\n').length).toBeGreaterThan(3);
    },
  };
}
