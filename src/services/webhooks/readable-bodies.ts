/** What a reader may still see of the bodies that were made for deliveries. */
import { ServiceError } from '../../base/errors.js';
import { isJsonObject, parseExactJson, printExactJson } from '../../base/json/json.js';
import { queryOf } from '../../base/model/record-query.js';
import type { Scope } from '../../base/model/scope.js';
import type { RecordStore } from '../../store/record-store.js';
import { type WebhookNews, webhookNewsSchema } from './webhook.js';

/** What a reader may see of the records of a collection. */
interface Readable {
  readonly ids: ReadonlySet<string>;
  readonly hiddenFields: ReadonlySet<string>;
}

const NOTHING: Readable = { ids: new Set(), hiddenFields: new Set() };

/**
 * The bodies as far as the scope may read them now: without fields that are hidden from it, and `undefined`
 * for a record that is out of its reach. A removed record is judged as it last was. A round trip for each
 * collection.
 */
export async function readableBodies(
  store: Pick<RecordStore, 'find'>,
  scope: Scope,
  deliveries: readonly { readonly event: unknown; readonly body: string | null }[],
): Promise<readonly (string | undefined)[]> {
  const made = deliveries.map(({ event, body }) =>
    body === null ? undefined : { body, news: webhookNewsSchema.parse(event) },
  );
  const idsByCollection = new Map<string, string[]>();
  for (const { news } of made.filter((one) => one !== undefined)) {
    if (news.collection === undefined) continue;
    const ids = idsByCollection.get(news.collection) ?? [];
    idsByCollection.set(news.collection, [...ids, news.recordId ?? '']);
  }
  const readable = new Map<string, Readable>();
  for (const [collection, ids] of idsByCollection)
    readable.set(collection, await findReadable(store, scope, { collection, ids }));
  return made.map((one) => {
    if (one?.news.collection === undefined) return one?.body;
    return withinReach(one.body, one.news, readable.get(one.news.collection) ?? NOTHING);
  });
}

/** Whether the error says that the scope may not read it, rather than that it could not be read. */
export function isRefused(error: unknown): boolean {
  return error instanceof ServiceError && (error.code === 'FORBIDDEN' || error.code === 'GONE');
}

async function findReadable(
  store: Pick<RecordStore, 'find'>,
  scope: Scope,
  { collection, ids }: { readonly collection: string; readonly ids: readonly string[] },
): Promise<Readable> {
  try {
    const set = store.find(scope, queryOf(collection));
    const records = await set.printChanged(ids, []);
    return { ids: new Set(records.map(({ id }) => id)), hiddenFields: set.hiddenFields };
  } catch (error) {
    if (isRefused(error)) return NOTHING;
    throw error;
  }
}

function withinReach(
  body: string,
  { recordId = '' }: WebhookNews,
  { ids, hiddenFields }: Readable,
): string | undefined {
  if (!ids.has(recordId)) return undefined;
  if (hiddenFields.size === 0) return body;
  const parsed = parseExactJson(body);
  if (!isJsonObject(parsed) || !isJsonObject(parsed.record)) return body;
  const shown = Object.entries(parsed.record).filter(([name]) => !hiddenFields.has(name));
  if (shown.length === Object.keys(parsed.record).length) return body;
  return printExactJson({ ...parsed, record: Object.fromEntries(shown) });
}
