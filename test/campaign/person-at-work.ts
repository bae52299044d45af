/** A person at the portal, as the campaign of tasks has them work: by what stands on the screen alone. */
import { readFile } from 'node:fs/promises';
import type { Locator, Page } from 'playwright-core';

/** What one is to do, by what the list of docs/tasks.md calls it. */
export type Tasks = Readonly<Record<string, (person: PersonAtWork) => Promise<void>>>;

export class PersonAtWork {
  readonly page: Page;
  /** Makes the names that a person gives unlike those of other rounds. */
  readonly stamp: string;

  constructor(page: Page, stamp: string) {
    this.page = page;
    this.stamp = stamp;
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole('button', { name, exact: typeof name === 'string' });
  }

  dialog(name?: string): Locator {
    return this.page.getByRole('dialog', name === undefined ? {} : { name });
  }

  /** A star stands behind the label of what is required. */
  field(label: string): Locator {
    return this.page.getByLabel(new RegExp(`^${label}( \\*)?$`));
  }

  async sees(role: 'heading' | 'tab' | 'link' | 'region' | 'cell', name: string | RegExp): Promise<void> {
    await this.page
      .getByRole(role, { name, exact: typeof name === 'string' })
      .first()
      .waitFor();
  }

  async reads(text: string | RegExp): Promise<void> {
    await this.page.getByText(text).first().waitFor();
  }

  async goesTo(label: string): Promise<void> {
    await this.page.getByRole('navigation').getByRole('link', { name: label, exact: true }).click();
    await this.page.getByRole('heading', { level: 1, name: label }).waitFor();
  }

  async opensRecordsOf(title: string): Promise<void> {
    await this.goesTo('Records');
    const heading = this.page.getByRole('heading', { name: title, exact: true });
    await this.page.getByRole('link').filter({ has: heading }).first().click();
    await this.page.getByRole('heading', { level: 1, name: title }).waitFor();
    await this.seesRows(title);
  }

  /** A cell of the first column of a sheet that can be changed. */
  cell(row: number): Locator {
    return this.page.locator(`[data-row="${row}"][data-column="0"]`);
  }

  async savesRows(): Promise<void> {
    await this.button(/^Save \d+ rows?$/).click();
    await this.reads(/^\d+ rows? saved\.$/);
  }

  async prints(title: string): Promise<void> {
    await this.button('Print').click();
    await this.page.getByRole('menuitem', { name: title }).click();
    await this.page.locator('.print-paper article, .print-paper table').first().waitFor();
  }

  async opensReport(title: string): Promise<void> {
    await this.goesTo('Reports');
    await this.page.getByRole('link', { name: new RegExp(`^${title}`) }).click();
    await this.page.getByRole('heading', { level: 1, name: title }).waitFor();
  }

  /** A report without required options runs when it is opened, and its form is folded. */
  async runsReport(title: string): Promise<void> {
    const run = this.button('Run');
    await run.or(this.button('Change')).first().waitFor();
    if (await run.isVisible()) await run.click();
    await this.seesRows(title);
  }

  async seesRows(label: string): Promise<void> {
    await this.page.getByRole('group', { name: label, exact: true }).getByRole('row').nth(1).waitFor();
  }

  async opensFirstRow(): Promise<void> {
    await this.page.getByRole('group').getByRole('row').nth(1).getByRole('link').first().click();
    await this.page.getByRole('tab', { name: 'Fields' }).click();
  }

  async chooses(label: string, option: string | RegExp): Promise<void> {
    await this.page.getByRole('combobox', { name: new RegExp(`^${label}( \\*)?$`) }).click();
    await this.page
      .getByRole('option', { name: option, exact: typeof option === 'string' })
      .first()
      .click();
  }

  /** Types a part of the name, and takes the first that is offered. */
  async finds(label: string, part: string): Promise<void> {
    await this.page.getByRole('combobox', { name: new RegExp(`^${label}( \\*)?$`) }).fill(part);
    await this.page
      .getByRole('option', { name: new RegExp(part, 'i') })
      .first()
      .click();
  }

  /** By equality: `{ Class: '5', Section: 'A' }`. */
  async filters(values: Readonly<Record<string, string>>): Promise<void> {
    await this.button('Filter').click();
    const dialog = this.dialog('Filter');
    for (const [index, [field, value]] of Object.entries(values).entries()) {
      await dialog.getByRole('button', { name: 'Add a condition' }).click();
      await dialog.getByLabel(`Field of condition ${index + 1}`).fill(field);
      await this.page.getByRole('option', { name: field, exact: true }).click();
      const input = dialog.getByLabel(`Value of condition ${index + 1}`);
      if ((await input.getAttribute('aria-haspopup')) === 'listbox') {
        await input.click();
        await this.page.getByRole('option', { name: value, exact: true }).click();
      } else await input.fill(value);
    }
    await dialog.getByRole('button', { name: 'Filter', exact: true }).click();
    await dialog.waitFor({ state: 'hidden' });
  }

  async savesChanges(): Promise<void> {
    await this.button('Save').click();
    await this.reads('Saved.');
  }

  async createsRecord(): Promise<void> {
    await this.button('Create').click();
    await this.sees('tab', 'History');
  }

  async newRecord(): Promise<void> {
    await this.page.getByRole('link', { name: 'New record' }).click();
    await this.page.getByRole('heading', { level: 1, name: 'New record' }).waitFor();
  }

  /** Of what is downloaded. */
  async takesFile(act: () => Promise<unknown>): Promise<Buffer> {
    const started = this.page.waitForEvent('download');
    const [download] = await Promise.all([started, act()]);
    return await readFile(await download.path());
  }

  async exports(format: string): Promise<Buffer> {
    await this.button('Export').click();
    const item = this.page.getByRole('menuitem', { name: new RegExp(`^${format}`) });
    return await this.takesFile(() => item.click());
  }

  async keepsView(name: string): Promise<void> {
    await this.button(/^Views$|\*$/).click();
    await this.page.getByRole('menuitem', { name: 'Save as view' }).click();
    await this.dialog().getByLabel('Name').fill(name);
    await this.dialog().getByRole('button', { name: 'Save' }).click();
    await this.button(name).waitFor();
  }

  async addsTile(operation: string, picture: string): Promise<void> {
    await this.button('Add a tile').first().click();
    const dialog = this.dialog('New tile');
    await dialog.getByLabel('What it shows').fill(operation);
    await this.page.getByRole('option', { name: operation, exact: true }).click();
    await dialog.getByLabel('Picture').click();
    await this.page.getByRole('option', { name: picture, exact: true }).click();
    await dialog
      .getByRole('region', { name: 'Preview' })
      .locator('canvas, .figure-value, tr')
      .first()
      .waitFor();
    await dialog.getByRole('button', { name: 'Add the tile' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await this.sees('region', operation);
  }
}
