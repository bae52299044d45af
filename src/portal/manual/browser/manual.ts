/** The search of the manual, the buttons that copy its examples, and the account in its header. */
import MiniSearch, { type SearchResult } from 'minisearch';
import { LoginSession } from '../../browser/session/login-session';
import { showRoomAccount } from '../../browser/session/show-room-account';
import { SEARCH_OPTIONS, type SearchedSection } from '../../pages/search-index.js';

const SHOWN_RESULTS = 12;

function main(): void {
  const field = document.querySelector<HTMLInputElement>('.search input');
  const list = document.querySelector<HTMLOListElement>('.search .found');
  if (field && list) useSearch(field, list);
  for (const example of document.querySelectorAll<HTMLElement>('pre > code[class]')) addCopyButton(example);
  // On a wide screen the pages stand beside the text, open.
  const wide = matchMedia('(min-width: 60rem)');
  const pages = document.querySelector('nav details');
  const follow = () => pages?.toggleAttribute('open', wide.matches);
  wide.addEventListener('change', follow);
  follow();
  void showAccount();
}

async function showAccount(): Promise<void> {
  const session = new LoginSession();
  await session.resume();
  await showRoomAccount(session);
}

function useSearch(field: HTMLInputElement, list: HTMLOListElement): void {
  let index: Promise<MiniSearch<SearchedSection>> | undefined;
  let asked = 0;
  const search = async () => {
    const turn = ++asked;
    index ??= loadIndex();
    const words = field.value.trim();
    const found = words === '' ? [] : (await index).search(words).slice(0, SHOWN_RESULTS);
    // The answer to an earlier text is no longer wanted.
    if (turn !== asked) return;
    list.replaceChildren(...(words !== '' && found.length === 0 ? [nothingFound()] : found.map(foundItem)));
    list.hidden = words === '';
  };
  field.hidden = false;
  field.addEventListener('input', () => void search());
  field.addEventListener('focus', () => void search());
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof HTMLInputElement;
    if (event.key === '/' && !isTyping) {
      event.preventDefault();
      field.focus();
    }
    if (event.key === 'Escape') list.hidden = true;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp')
      moveFocus(event, [field, ...list.querySelectorAll('a')]);
  });
  document.addEventListener('click', ({ target }) => {
    if (target instanceof Node && !field.parentElement?.contains(target)) list.hidden = true;
  });
  list.addEventListener('click', () => {
    list.hidden = true;
  });
}

async function loadIndex(): Promise<MiniSearch<SearchedSection>> {
  const answer = await fetch(document.body.dataset.index ?? '');
  return MiniSearch.loadJSON(await answer.text(), SEARCH_OPTIONS);
}

function foundItem({ id, title = '', page = '' }: SearchResult): HTMLLIElement {
  const item = document.createElement('li');
  const link = document.createElement('a');
  link.href = id;
  link.textContent = title;
  const where = document.createElement('small');
  where.textContent = page === title ? '' : page;
  link.append(where);
  item.append(link);
  return item;
}

function nothingFound(): HTMLLIElement {
  const item = document.createElement('li');
  item.textContent = 'Nothing found.';
  return item;
}

function moveFocus(event: KeyboardEvent, places: readonly HTMLElement[]): void {
  const at = places.indexOf(document.activeElement as HTMLElement);
  if (at < 0) return;
  event.preventDefault();
  places[at + (event.key === 'ArrowDown' ? 1 : -1)]?.focus();
}

function addCopyButton(example: HTMLElement): void {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Copy';
  button.addEventListener('click', () => {
    void navigator.clipboard.writeText(example.textContent ?? '').then(() => {
      button.textContent = 'Copied';
      setTimeout(() => {
        button.textContent = 'Copy';
      }, 2000);
    });
  });
  example.parentElement?.append(button);
}

main();
