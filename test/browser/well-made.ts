/** What holds of every page of the portal, whatever is on it. */
import { expect } from '@jest/globals';
import axe from 'axe-core';
import type { Page, ViewportSize } from 'playwright-core';

/** A phone, a tablet and a desk. */
const SIZES = [
  { width: 360, height: 740 },
  { width: 768, height: 1024 },
  { width: 1440, height: 900 },
] as const;
/**
 * What is left of 1,280 by 1,024 pixels at a zoom of 400 % and of 200 %.
 *
 * @see https://www.w3.org/TR/WCAG22/#reflow
 */
const ZOOMED = [
  { width: 320, height: 256 },
  { width: 640, height: 512 },
] as const;

/**
 * Holds the page that is shown to WCAG 2.2 AA by axe-core, in both themes on a phone, a tablet and a desk,
 * and to its room, also where its user zooms in or spaces the text: nothing but what scrolls by itself may
 * be wider than the screen, and no text is cut or runs into another. Nothing is loaded anew.
 */
export async function expectWellMade(page: Page): Promise<void> {
  for (const size of ZOOMED) {
    await page.setViewportSize(size);
    await expectRoom(page, size.width, 'zoomed in');
  }
  for (const size of SIZES) {
    expect({ ...size, found: await findViolations(page, size) }).toEqual({ ...size, found: [] });
    await expectRoom(page, size.width, 'as it is');
    await page.evaluate(spaceText);
    await expectRoom(page, size.width, 'with spaced text');
    await page.evaluate(() => document.adoptedStyleSheets.pop());
  }
}

/** What axe-core finds against WCAG 2.2 AA in either theme, on a screen of this size. */
export async function findViolations(page: Page, size: ViewportSize): Promise<string[]> {
  await page.evaluate(axe.source);
  await page.setViewportSize(size);
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.evaluate(async () => {
      // A script may follow the theme a frame later, with transitions of its own.
      for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
      await Promise.allSettled(document.getAnimations().map(({ finished }) => finished));
    });
    found.push(...(await page.evaluate(runAxe, colorScheme)).map((one) => `${colorScheme}: ${one}`));
  }
  return found;
}

/** Holds a table to its room on a tablet and a desk: it may not scroll sideways. Leaves a desk. */
export async function expectToFit(page: Page, table: string): Promise<void> {
  const [, upright, desk] = SIZES;
  const across = { width: upright.height, height: upright.width };
  for (const size of [upright, across, desk]) {
    await page.setViewportSize(size);
    const wider = await page.getByRole('group', { name: table, exact: true }).evaluate(async (one) => {
      for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
      return one.scrollWidth - one.clientWidth;
    });
    expect({ table, ...size, wider }).toEqual({ table, ...size, wider: 0 });
  }
}

async function expectRoom(page: Page, width: number, how: string): Promise<void> {
  const cut = await page.evaluate(findCut);
  expect({ width, how, cut }).toEqual({ width, how, cut: [] });
}

/**
 * Runs in the page: what makes it wider than the screen, and what does not hold its text, once charts have
 * taken their new size. What scrolls shows all of its text in the end, as a field does by its caret; a line
 * that ends in dots says all of it in its title, and a cell of the grid on the page of its record.
 */
async function findCut(): Promise<string[]> {
  for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
  // A notice comes and goes over the edge of the screen.
  const isOnItsWay = (notice: Element) => new DOMMatrix(getComputedStyle(notice).transform).e !== 0;
  while ([...document.querySelectorAll('.mantine-Notification-root')].some(isOnItsWay))
    await new Promise(requestAnimationFrame);
  const { scrollWidth: widest, clientWidth: room } = document.documentElement;
  const clips = (element: Element | null): boolean =>
    element !== null &&
    element !== document.body &&
    (getComputedStyle(element).overflowX !== 'visible' || clips(element.parentElement));
  const isCut = (element: HTMLElement): boolean => {
    const { clientWidth, clientHeight, scrollWidth, scrollHeight } = element;
    const isTooWide = scrollWidth > clientWidth + 2;
    if (!isTooWide && scrollHeight <= clientHeight + 2) return false;
    const style = getComputedStyle(element);
    const isUnseen = clientWidth <= 1 || style.display.startsWith('inline');
    if (isUnseen || element.textContent.trim() === '') return false;
    if (style.overflowX === 'visible') return isTooWide && !clips(element.parentElement);
    if (/auto|scroll/.test(style.overflowX)) return false;
    if (style.textOverflow === 'ellipsis') return isTooWide && element.closest('[title], td, th') === null;
    return isTooWide || (style.overflowY !== 'visible' && style.webkitLineClamp === 'none');
  };
  const isTooFarRight = (element: Element) =>
    widest > room && element.getBoundingClientRect().right > room && !clips(element.parentElement);
  const cut = [...document.querySelectorAll<HTMLElement>('body *:not(select, option, svg, svg *)')].filter(
    (element) => !element.closest('.monaco-editor, .cm-editor') && (isCut(element) || isTooFarRight(element)),
  );
  const shown = cut.slice(0, 5).map(({ outerHTML }) => outerHTML.slice(0, 160));
  return widest > room ? [`${widest} of ${room}`, ...shown] : shown;
}

/** Runs in the page: what its user may set of all texts. @see https://www.w3.org/TR/WCAG22/#text-spacing */
function spaceText(): void {
  const spaced = new CSSStyleSheet();
  spaced.replaceSync(
    `* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important }
     p { margin-bottom: 2em !important }`,
  );
  document.adoptedStyleSheets.push(spaced);
}

/**
 * Runs in the page. The dark theme changes colours alone: what does not depend on them was looked at in the
 * light one, and would take as long again.
 */
async function runAxe(colorScheme: 'light' | 'dark'): Promise<string[]> {
  const { axe } = globalThis as unknown as {
    readonly axe: {
      run(options: unknown): Promise<{
        readonly violations: readonly {
          readonly id: string;
          readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
        }[];
      }>;
    };
  };
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
  const { violations } = await axe.run({
    runOnly:
      colorScheme === 'light'
        ? { type: 'tag', values: tags }
        : { type: 'rule', values: ['color-contrast', 'link-in-text-block'] },
  });
  return violations.flatMap(({ id, nodes }) =>
    nodes.slice(0, 3).map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary}`),
  );
}
