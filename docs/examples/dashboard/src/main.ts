import { Client, fetchExchange, subscriptionExchange } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import { createClient } from 'graphql-ws';
import { BoardDocument, type BoardQuery, TaskChangesDocument } from './board.js';

const at = (id: string) => document.querySelector(`#${id}`) as HTMLElement;

/** The token stays in the page: who loads it again logs in again. */
async function logIn(user: string, password: string): Promise<string> {
  const answer = await fetch('/auth', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ user_name: user, password }),
  });
  const { access_token: token, detail } = await answer.json();
  if (!answer.ok) throw new Error(detail);
  return token;
}

/** An object is identified by its `id`; one that was read without `id` is a part of its parent. */
const keys = new Proxy(
  {},
  {
    get:
      () =>
      ({ id }: { readonly id?: string }) =>
        id ?? null,
  },
);

function connect(token: string): Client {
  const authorization = `Bearer ${token}`;
  const live = createClient({
    url: `${location.origin.replace('http', 'ws')}/graphql`,
    connectionParams: { Authorization: authorization },
    retryAttempts: Number.POSITIVE_INFINITY,
  });
  return new Client({
    url: '/graphql',
    fetchOptions: { headers: { authorization } },
    preferGetMethod: false,
    exchanges: [
      cacheExchange({ keys }),
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: ({ query, variables }) => ({
          subscribe: (sink) => ({
            unsubscribe: live.subscribe({ query: query ?? '', variables: variables ?? {} }, sink),
          }),
        }),
      }),
    ],
  });
}

/** Shows what was answered: a root field that failed is null. */
function show({ strength, collectionTrend, tasks }: BoardQuery): void {
  if (strength) {
    const { totals } = strength;
    at('strength').textContent =
      `${totals.strength} students: ${totals.boys} boys, ${totals.girls} girls, ${totals.other} others`;
  }
  if (collectionTrend) {
    drawBars(collectionTrend.rows.map(({ start, total }) => ({ label: start, value: Number(total) })));
  }
  at('tasks').replaceChildren(
    ...(tasks?.nodes ?? []).map(({ name, amount }) =>
      Object.assign(document.createElement('li'), { textContent: `${name}: ${amount ?? '–'}` }),
    ),
  );
}

function drawBars(bars: readonly { readonly label: string; readonly value: number }[]): void {
  const most = Math.max(1, ...bars.map(({ value }) => value));
  const shapes = bars.map(({ label, value }, index) => {
    const height = (100 * value) / most;
    const bar = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
    const place = { x: index + 0.1, y: 100 - height, width: 0.8, height };
    for (const [name, number] of Object.entries(place)) bar.setAttribute(name, String(number));
    const title = document.createElementNS('http://www.w3.org/2000/svg', 'title');
    title.textContent = `${label}: ${value.toLocaleString()}`;
    bar.append(title);
    return bar;
  });
  at('chart').setAttribute('viewBox', `0 0 ${Math.max(1, bars.length)} 100`);
  at('chart').replaceChildren(...shapes);
}

at('login').addEventListener('submit', async (event) => {
  event.preventDefault();
  const form = new FormData(event.target as HTMLFormElement);
  try {
    const client = connect(await logIn(String(form.get('user')), String(form.get('password'))));
    const read = async () => {
      const { data, error } = await client
        .query(BoardDocument, {}, { requestPolicy: 'network-only' })
        .toPromise();
      if (!data) throw error;
      // A field that failed is null; the others are shown.
      show(data);
      at('fault').textContent = error?.message ?? '';
    };
    await read();
    at('login').hidden = true;
    at('board').hidden = false;
    client.subscription(TaskChangesDocument, {}).subscribe(() => void read());
  } catch (error) {
    at('fault').textContent = error instanceof Error ? error.message : String(error);
  }
});
