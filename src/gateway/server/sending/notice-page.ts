/**
 * Pages of a few words in English and Hindi, for a browser that the portal itself cannot serve. They need no
 * session and no built file: their styles are inline, by the nonce of the answer.
 */
import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';
import { HOUSE_SIGN } from '../../../portal/pages/room-header.js';
import { portalHeaders, type SecurityHeaders } from './security-headers.js';

const NOTICES = {
  replaced: {
    status: 503,
    headers: { 'retry-after': '10' },
    title: 'Updated',
    english: {
      heading: 'The portal has been updated',
      text: 'Reload this page in a moment. If you see this again, the gateway must be restarted.',
      link: 'Reload',
    },
    hindi: {
      heading: 'पोर्टल का नया संस्करण आया है',
      text: 'थोड़ी देर में यह पृष्ठ फिर से लोड करें। यही संदेश फिर दिखे, तो गेटवे को पुनः आरंभ करना होगा।',
      link: 'फिर से लोड करें',
    },
    // The page itself.
    href: '',
  },
  missing: {
    status: 404,
    headers: {},
    title: 'Page not found',
    english: {
      heading: 'Page not found',
      text: 'There is nothing at this address. Check how it is spelled, or start from the home page.',
      link: 'Go to home',
    },
    hindi: {
      heading: 'ऐसा कोई पृष्ठ नहीं है',
      text: 'इस पते पर कुछ नहीं है। पते की वर्तनी जाँचें, या मुखपृष्ठ से शुरू करें।',
      link: 'मुखपृष्ठ पर जाएँ',
    },
    href: '/',
  },
} as const;

/**
 * Sends a notice: of an address that nothing is at, or in place of a page whose script is gone and that would
 * stay blank.
 */
export function sendNoticePage(reply: FastifyReply, kind: keyof typeof NOTICES): FastifyReply {
  const nonce = newNonce();
  const notice = NOTICES[kind];
  reply.code(notice.status).headers(notice.headers);
  return sendPage(reply, portalHeaders(nonce), printNotice(notice, nonce));
}

/** The colours are those of the portal (`room-header.css`, `theme.ts`). */
const STYLE = `
:root{color-scheme:light dark}
:root[data-theme=light]{color-scheme:light}
:root[data-theme=dark]{color-scheme:dark}
*{box-sizing:border-box;margin:0}
body{display:grid;place-content:center;justify-items:center;gap:24px;min-height:100vh;padding:24px 16px;
background:light-dark(#f6f7f9,#14171d);color:light-dark(#1d2536,#d3d9e3);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Noto Sans Devanagari",sans-serif}
a{border-radius:8px}
a:focus-visible{outline:2px solid light-dark(#1f5bb3,#8ab4f8);outline-offset:2px}
.brand{display:inline-flex;align-items:center;gap:10px;padding:4px;color:inherit;font-size:18px;
font-weight:650;text-decoration:none}
main{display:grid;gap:24px;width:100%;max-width:30rem;padding:32px 24px;border-radius:12px;
border:1px solid light-dark(#e2e6ec,#2f3643);background:light-dark(#fff,#1b1f28);text-align:center}
h1,h2{font-size:22px;line-height:1.35;font-weight:650}
h2{font-size:18px}
p{margin-top:8px;color:light-dark(#566071,#a9b1bf)}
.action{justify-self:center;padding:8px 18px;background:#1f5bb3;color:#fff;font-weight:600;
text-decoration:none}
.action:hover{background:#194e9c}`;

function printNotice(
  { title, english, hindi, href }: (typeof NOTICES)[keyof typeof NOTICES],
  nonce: string,
): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Campus Gateway</title>
<link rel="icon" href="/docs/favicon.png">
<style nonce="${nonce}">${STYLE}</style>
<script src="/docs/room-theme.js"></script>
</head>
<body>
<header><a class="brand" href="/">${HOUSE_SIGN}<span>Campus Gateway</span></a></header>
<main>
<div><h1>${english.heading}</h1>
<p>${english.text}</p></div>
<div lang="hi"><h2>${hindi.heading}</h2>
<p>${hindi.text}</p></div>
<a class="action" href="${href}">${english.link} · <span lang="hi">${hindi.link}</span></a>
</main>
</body>
</html>
`;
}

const JSON_TYPES = ['application/json', 'application/problem+json'];

/** Whether the caller prefers a page to JSON, as a browser does that was given an address. */
export function prefersPage({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  if (!headers.accept?.includes('text/html')) return false;
  return new Negotiator({ headers }).mediaType([...JSON_TYPES, 'text/html']) === 'text/html';
}

export function newNonce(): string {
  return randomBytes(16).toString('base64url');
}

/** Never cached: its nonce matches the headers of this answer only. */
export function sendPage(reply: FastifyReply, headers: SecurityHeaders, page: string): FastifyReply {
  return reply
    .headers(headers)
    .header('cache-control', 'no-store')
    .type('text/html; charset=utf-8')
    .send(page);
}
