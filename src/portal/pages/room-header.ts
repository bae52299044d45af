/**
 * The header and the theme that `/docs` and `/manual` share with the portal, whose script does not render
 * them.
 */

/** The pages that link to each other, by their addresses. */
const ROOMS = [
  { address: '/', label: 'Portal' },
  { address: '/explore', label: 'GraphQL' },
  { address: '/docs', label: 'REST' },
  { address: '/manual', label: 'Manual' },
] as const;

export type RoomAddress = (typeof ROOMS)[number]['address'];

/** The logo, as in `Brand` of the portal. */
export const HOUSE_SIGN = `<svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
<rect width="32" height="32" rx="8" fill="#1f5bb3"/>
<path d="M6 14 16 8l10 6-10 6z" fill="#fff"/>
<path d="M10 18v4.5c3.6 2.7 8.4 2.7 12 0V18l-6 3.6z" fill="#fff" opacity=".8"/>
</svg>`;

/**
 * Prints the header of a page. `middle` is HTML between the name of the program and the links. The script of
 * the page fills in the account (`showRoomAccount`).
 */
export function printRoomHeader(current: RoomAddress, middle = ''): string {
  const links = ROOMS.map(({ address, label }) => {
    const mark = address === current ? ' aria-current="page"' : '';
    return `<a href="${address}"${mark}>${label}</a>`;
  });
  return `<header class="room-header">
<a class="room-brand" href="/">${HOUSE_SIGN}<span class="room-name">Campus Gateway</span></a>
${middle}
<nav class="room-links" aria-label="Pages">
${links.join('\n')}
</nav>
<a class="room-account" hidden></a>
</header>`;
}

/**
 * A script for the head of the page, which runs before anything is drawn. The portal stores the chosen theme
 * under this name in the browser; without one, or with `auto`, the system decides.
 */
export const ROOM_THEME_SCRIPT = `try {
  const theme = localStorage.getItem('mantine-color-scheme-value');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {}
`;
