/** A page as it is used by somebody without a mouse. */
import type { Locator, Page } from 'playwright-core';

/** A page that takes more presses than this to get anywhere would be left. */
const MOST_PRESSES = 80;

/** Presses a key until an element has the focus, which has to be seen there. */
export async function tabTo(
  page: Page,
  target: Locator,
  key: 'Tab' | 'Shift+Tab' | 'ArrowDown' | 'ArrowRight' = 'Tab',
): Promise<void> {
  await target.waitFor();
  for (let presses = 0; presses < MOST_PRESSES; presses++) {
    if (await target.evaluate((element) => element === document.activeElement)) {
      await expectVisibleFocus(page);
      return;
    }
    await page.keyboard.press(key);
  }
  throw new Error(`${MOST_PRESSES} presses of ${key} do not reach ${target.toString()}`);
}

/** Goes to a button, a link or a tab and presses it. */
export async function press(page: Page, target: Locator): Promise<void> {
  await tabTo(page, target);
  await page.keyboard.press('Enter');
}

/** Opens a menu and takes an item of it. */
export async function choose(page: Page, menu: Locator, item: Locator): Promise<void> {
  await press(page, menu);
  await tabTo(page, item, 'ArrowDown');
  await page.keyboard.press('Enter');
}

/** Goes to the first record of a grid, from there by arrows to the heading of a column, and presses it. */
export async function pressHeading(page: Page, grid: Locator, name: string): Promise<void> {
  await tabTo(page, grid.getByRole('link').first());
  await page.keyboard.press('ArrowUp');
  await tabTo(page, grid.getByRole('columnheader').getByRole('button', { name }), 'ArrowRight');
  await page.keyboard.press('Enter');
}

/** Goes to the tabs of a page, which take one press of Tab together, and along them to one. */
export async function showTab(page: Page, name: string): Promise<void> {
  await tabTo(page, page.getByRole('tab', { selected: true }));
  await tabTo(page, page.getByRole('tab', { name, exact: true }), 'ArrowRight');
}

/** Goes to a field, and writes there instead of what is there. */
export async function write(page: Page, target: Locator, text: string): Promise<void> {
  await tabTo(page, target);
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.type(text);
}

/** Replaces the text of a field faster than the page can answer to a letter. */
export async function writeAtOnce(page: Page, target: Locator, text: string): Promise<void> {
  await target.selectText();
  await page.evaluate((letters) => {
    for (const letter of letters) document.execCommand('insertText', false, letter);
  }, text);
}

/** What stands on the element that has the focus. */
export async function focusedText(page: Page): Promise<string | null | undefined> {
  return await page.evaluate(() => document.activeElement?.textContent);
}

/** In a field one writes in, the caret and the border tell; around anything else a line fades in. */
async function expectVisibleFocus(page: Page): Promise<void> {
  await page.waitForFunction(() => {
    const element = document.activeElement ?? document.body;
    if (element.matches('textarea, input:not([type=checkbox], [type=radio])')) return true;
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    return outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2;
  });
}
