/** The pages of scripts, in a real browser on a demo school. */
import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { ask } from '../contract/graphql.js';
import { usePages } from './use-pages.js';
import { expectWellMade } from './well-made.js';

const gateway = useDemoGateway({ students: 40 });
const pages = usePages(gateway);

/** By keys, as a person writes: what is put in at once would come with styles of its own. */
async function write(page: Page, code: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Code of greet' }).click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.press('Backspace');
  await page.keyboard.type(code);
}

describe('the pages of scripts', () => {
  it('write one, run it, and show its runs, its log and what it was before', async () => {
    const page = await pages.openPortalAs('admin', '/portal/scripts');
    await page.getByText('No scripts yet').waitFor();
    await expectWellMade(page);
    await page.getByRole('button', { name: 'New script' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('greet');
    await page.getByRole('button', { name: 'Create script' }).click();
    await write(
      page,
      'export default ({ name }) => { platform.print("to " + name); return "Hello " + name; };',
    );
    await page.getByLabel('Description').fill('Greets <b>somebody</b>');
    await page.getByRole('button', { name: 'Add to Before writes, which it can change or refuse' }).click();
    await page.getByRole('button', { name: /^Take .* away$/ }).click();
    await page.getByLabel('Roles that may run it').fill('clerk, teacher');
    await expectWellMade(page);
    // What is not saved outlives a reload.
    await page.reload();
    await page.getByText('"Hello "').waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('tab', { name: 'Runs' }).waitFor();
    await page.getByText('Saved.').waitFor();
    const discard = page.getByRole('button', { name: 'Discard changes' });
    await discard.waitFor({ state: 'hidden' });

    await write(page, 'export default ({ name }) => {');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page
      .getByRole('alert')
      .getByText(/Request/)
      .waitFor();
    await write(page, 'export default ({ name }) => { platform.log("asked"); return "Hi " + name; };');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await discard.waitFor({ state: 'hidden' });

    await page.getByRole('tab', { name: 'Run', exact: true }).click();
    await page.getByLabel('Arguments, as JSON').fill('{"name": "Asha"}');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('group', { name: 'Result' }).getByText('"Hi Asha"').waitFor();
    await expectWellMade(page);
    await page.getByRole('tab', { name: 'Runs' }).click();
    await page.getByRole('button', { name: /^Result/ }).click();
    await page.getByText('"Hi Asha"').waitFor();
    await page.getByText(/^Called · /).waitFor();
    await expectWellMade(page);
    await page.getByRole('tab', { name: 'Log' }).click();
    await page.getByRole('row', { name: /Info asked/ }).waitFor();
    await expectWellMade(page);
    await page.getByRole('tab', { name: 'Versions' }).click();
    await page.locator('.cm-deletedChunk, .cm-changedLine').first().waitFor();
    await expectWellMade(page);
    await page.getByRole('link', { name: 'Scripts' }).first().click();
    await page
      .getByRole('row', { name: /^greet Greets <b>somebody<\/b> called by clerk, teacher/ })
      .waitFor();
    await expectWellMade(page);
  });

  it('overwrite no version unseen that somebody else has saved since, after a reload either', async () => {
    const page = await pages.openPortalAs('admin', '/portal/scripts/greet');
    await write(page, 'export default () => "mine";');
    const theirs = { name: 'greet', code: 'export default () => "theirs";' };
    const saving = 'mutation ($script: SaveScriptInput!) { saveScript(script: $script) { version } }';
    const { version } = (await ask(gateway, saving, { variables: { script: theirs } })).saveScript;
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const notice = page.getByRole('alert');
    await notice.getByText(`Version ${version} is the saved one.`).waitFor();
    await notice.getByText(/^Changed by Dr. Lakshmi Menon · /).waitFor();
    await notice.locator('.cm-deletedChunk, .cm-changedLine').first().waitFor();
    await page.reload();
    await notice.getByText(`Version ${version} is the saved one.`).waitFor();
    await expectWellMade(page);
    const codeNow = async () => (await ask(gateway, '{ script(name: "greet") { code } }')).script.code;
    expect(await codeNow()).toContain('theirs');
    await notice.getByRole('button', { name: 'Keep mine' }).click();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved.').waitFor();
    expect(await codeNow()).toContain('mine');
  });

  it('show what a script may call', async () => {
    const page = await pages.openPortalAs('admin', '/portal/scripts/new-one');
    await page.getByRole('button', { name: 'What a script may call' }).click();
    await page.getByRole('dialog').getByText('What a script of Campus Gateway finds').waitFor();
    await page.keyboard.press('Escape');
    expect(await page.getByRole('tab').count()).toBe(1);
  });

  it('are refused to another role that types their address', async () => {
    const page = await pages.openPortalAs('clerk', '/portal/scripts/greet');
    await page.getByText('You do not have access to this page').waitFor();
  });
});
