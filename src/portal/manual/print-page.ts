/**
 * Prints a page of the manual around its document: navigation, search, contents, and links to the previous
 * and the next page.
 */
import { printRoomHeader } from '../pages/room-header.js';
import { addressOf, CHAPTERS, type ManualPage, PAGES } from './pages.js';
import type { RenderedDocument } from './render-document.js';

export interface PageAssets {
  /** Addresses of the script, the styles and the search index. */
  readonly script: string;
  readonly style: string;
  readonly index: string;
}

const SEARCH = `<div class="search" role="search">
<input type="search" placeholder="Search the manual" aria-label="Search the manual" autocomplete="off" hidden>
<ol class="found" hidden></ol>
</div>`;

/** Only the search needs the script. Nothing is inline, so the content security policy can be strict. */
export function printPage(
  page: ManualPage,
  { document, assets }: { readonly document: RenderedDocument; readonly assets: PageAssets },
): string {
  const title = document.sections[0]?.title ?? page.label;
  return `<!doctype html>
<html lang="${page.language ?? 'en'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(page.path === '' ? title : `${title} · Campus Gateway`)}</title>
<link rel="icon" href="/docs/favicon.png">
<link rel="stylesheet" href="${assets.style}">
<script src="/docs/room-theme.js"></script>
<script type="module" src="${assets.script}"></script>
</head>
<body data-index="${assets.index}">
<a class="skip" href="#content">Skip to the text</a>
${printRoomHeader('/manual', SEARCH)}
<div class="columns">
<nav aria-label="Pages">
<details><summary>All pages</summary>
${CHAPTERS.map((chapter) => printChapter(chapter, page)).join('\n')}
</details>
</nav>
<main id="content">
${document.html}
<footer>${printNeighbours(page)}</footer>
</main>
${printContents(document)}
</div>
</body>
</html>
`;
}

function printChapter(chapter: (typeof CHAPTERS)[number], current: ManualPage): string {
  const links = chapter.pages.map((page) => {
    const mark = page === current ? ' aria-current="page"' : '';
    return `<li><a href="${addressOf(page)}"${mark}>${escapeHtml(page.label)}</a></li>`;
  });
  return `<h2>${escapeHtml(chapter.title)}</h2>\n<ul>${links.join('')}</ul>`;
}

function printContents({ sections }: RenderedDocument): string {
  const links = sections
    .filter(({ level }) => level === 2)
    .map(({ anchor, title }) => `<li><a href="#${anchor}">${escapeHtml(title)}</a></li>`);
  if (links.length < 2) return '';
  return `<aside aria-label="On this page"><h2>On this page</h2>\n<ul>${links.join('')}</ul></aside>`;
}

function printNeighbours(page: ManualPage): string {
  const index = PAGES.indexOf(page);
  const link = (neighbour: ManualPage | undefined, relation: 'prev' | 'next') =>
    neighbour ? `<a rel="${relation}" href="${addressOf(neighbour)}">${escapeHtml(neighbour.label)}</a>` : '';
  return link(PAGES[index - 1], 'prev') + link(PAGES[index + 1], 'next');
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
