/** The service worker of the portal, which then opens offline too. */
import type { PortalFiles } from '../../../portal/pages/portal-files.js';

export const SERVICE_WORKER_PATH = '/service-worker.js';

/**
 * The script keeps the page and its hashed files, and nothing else: no answer with data ever gets into its
 * cache. It has the key of the build, so that a new build is another script, which replaces the old one and
 * its cache at once.
 */
export function printServiceWorker({ key, script, style, preload, arrive, names }: PortalFiles): string {
  const texts = names.filter((name) => name.startsWith('_catalog_')).map((name) => `/portal/assets/${name}`);
  // `/` would be the index of REST, because a worker does not request HTML.
  const shell = ['/portal', script, style, arrive, ...preload, ...texts];
  return `const CACHE = 'campus-portal-${key.slice(0, 16)}';
const SHELL = ${JSON.stringify(shell)};

addEventListener('install', (event) => {
  skipWaiting();
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(SHELL)));
});

addEventListener('activate', (event) => event.waitUntil(begin()));
async function begin() {
  const names = (await caches.keys()).filter((name) => name.startsWith('campus-portal-'));
  for (const name of names) if (name !== CACHE) await caches.delete(name);
  await registration.navigationPreload?.enable();
  await clients.claim();
}

addEventListener('fetch', (event) => {
  const { method, mode, url } = event.request;
  const { origin, pathname } = new URL(url);
  if (method !== 'GET' || origin !== location.origin) return;
  if (pathname.startsWith('/portal/assets/')) event.respondWith(findFile(event.request));
  else if (mode === 'navigate' && /^\\/(portal(\\/.*)?)?$/.test(pathname)) event.respondWith(openPage(event));
});

async function openPage(event) {
  try {
    return (await event.preloadResponse) ?? (await fetch(event.request));
  } catch (error) {
    return (await caches.match(SHELL[0])) ?? Promise.reject(error);
  }
}

/** The name of a file has a hash of its content, so a kept one is never outdated. */
async function findFile(request) {
  const kept = await caches.match(request);
  if (kept) return kept;
  const answer = await fetch(request);
  const cache = await caches.open(CACHE);
  if (answer.status === 200) await cache.put(request, answer.clone()).catch(() => {});
  return answer;
}
`;
}
