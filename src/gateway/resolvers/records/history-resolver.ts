/** The door to earlier versions of records, and their restoration. */
import { invalidAt, type ServiceError } from '../../../base/errors.js';
import { instantFrom } from '../../../base/model/calendar.js';
import type { Scope } from '../../../base/model/scope.js';
import { enumType, member, nullable, objectType, type ValueOf } from '../../../base/scalars/declared-type.js';
import { withPlaces } from '../../../store/database/keyset.js';
import type { Moment } from '../../../store/history/record-history.js';
import type { Undone } from '../../../store/history/reverts.js';
import type { StoredRecord } from '../../../store/reading/stored-record.js';
import type { RecordStore } from '../../../store/record-store.js';
import { connectionType, toConnection } from '../connection.js';
import { FORCE_ARGUMENT, PAGE_ARGUMENTS, type PageSizes, toPageRequest } from '../page-arguments.js';
import type { RequestContext } from '../request-context.js';
import { type FieldRows, serviceResolver } from '../service-resolver.js';
import { toGenericRecord } from './generic-form.js';
import { GenericRecord } from './generic-record.js';
import type { RecordRemoval } from './record-resolver.js';
import { keepRecord, recallRecord, writeOnce } from './write-once.js';

export const FieldChangeKind = enumType('FieldChangeKind', 'What a change did to a field.', {
  added: 'It was added.',
  changed: 'Its value changed.',
  removed: 'It was removed.',
});
export type FieldChangeKind = ValueOf<typeof FieldChangeKind>;

export const FieldChangeResult = objectType('FieldChange', 'A field whose value a change replaced.', {
  path: member.text('Its stored name; below an object the names joined by dots. A list is one value.'),
  kind: member.of(FieldChangeKind, 'Distinguishes a field that is null from one that is absent.'),
  before: nullable.json('Its previous value; null if it was absent.'),
  after: nullable.json('Its new value; null if it was removed.'),
});

const ChangeAuthorResult = objectType('ChangeAuthor', 'Who made a change, and by what.', {
  principal: member.text('The id of the user, or the name of the task.'),
  credential: member.text('`token:<session>`, `key:<id>` or `system:<task>`.'),
  requestId: member.text('The request that made the change; `undoChange` takes it.'),
  requestOperation: nullable.text(
    'The name of the GraphQL operation, or the template of the route; null where there was none.',
  ),
});

export const RecordVersionResult = objectType('RecordVersion', 'A change of a record.', {
  version: member.whole('The version that the change produced.'),
  operation: member.text('`created`, `updated` or `deleted`.'),
  fromVersion: nullable.whole(
    'The previous version; null for the first. A restored record is `created` from a ' + 'previous version.',
  ),
  at: member.instant('When it happened.'),
  by: nullable.of(ChangeAuthorResult, 'Shown to admins, and to users for their own changes; otherwise null.'),
  changes: nullable.list(
    FieldChangeResult,
    'The changed fields that you may read; null if they were not recorded.',
  ),
});

const RecordHistoryConnection = connectionType('RecordHistory', RecordVersionResult, {
  page: 'A page of the changes of a record, the newest first.',
  one: 'A change',
  many: 'The changes',
});

const UndoneResult = objectType('UndoneChange', 'The result of undoing a request.', {
  changed: member.whole('Changed records that were restored to their earlier values.'),
  removed: member.whole('Records that it had made, now removed.'),
  broughtBack: member.whole('Records that it had removed, now back.'),
});

interface HistoryServices {
  readonly store: RecordStore;
  readonly pages: PageSizes;
}

const ADDRESS = {
  collection: member.text('The collection, e.g. "task".'),
  id: member.id('The id of the record.'),
};

/** Restores a record to an earlier version, once per `Idempotency-Key`. */
async function restore(
  { store }: HistoryServices,
  context: RequestContext,
  { collection, id, version, ifVersion }: RecordRemoval & { readonly version: number },
): Promise<StoredRecord> {
  return await writeOnce(store, context, {
    writes: [collection],
    request: () => ['restore', collection, id, version, ifVersion ?? null],
    run: (scope, options) => store.restore(scope, collection, id, { version, ifVersion, ...options }),
    keep: keepRecord,
    recall: recallRecord,
  });
}

export const HistoryResolver = serviceResolver(({ query, transactional }: FieldRows<HistoryServices>) => ({
  restore,
  recordHistory: query(
    member.of(
      RecordHistoryConnection,
      'The changes of a record, the newest first, also of a removed one that is not purged. ' +
        'Errors: NOT_FOUND.',
    ),
    // A cursor is the version that a change produced.
    { ...PAGE_ARGUMENTS, ...ADDRESS },
    async ({ store, pages }, scope, { collection, id, ...page }) => {
      const query = { id, ...withPlaces(toPageRequest(page, pages), toVersion) };
      return toConnection(await store.history(scope, collection, query), {
        toNode: (version) => version,
        cursorOf: ({ version }) => String(version),
      });
    },
  ),
  recordAt: query(
    member.of(
      GenericRecord,
      'A record as it was at a version, or at an instant. Errors: NOT_FOUND, GONE where it was removed ' +
        'then and where the values are not kept.',
    ),
    {
      ...ADDRESS,
      version: nullable.whole('This version.'),
      at: nullable.isoInstant('Instead of `version`: the record as it was at this instant.'),
    },
    async ({ store }, scope, { collection, id, ...moment }) =>
      toGenericRecord(await store.getPast(scope, collection, id, toMoment(scope, moment)), collection),
  ),
  restoreRecord: transactional(
    member.of(
      GenericRecord,
      'Restores a record to a version, by the rules of any write; a removed record that is not ' +
        'purged is created again. Fields hidden from you keep their values. Errors: NOT_FOUND, GONE, ' +
        'VERSION_CONFLICT, FORBIDDEN for a field that differs and is not yours to set.',
    ),
    {
      ...ADDRESS,
      version: member.whole('The version to restore.'),
      ifVersion: nullable.whole('Restore it only if it still has this version.'),
    },
    async (services, _scope, args, { context }) =>
      toGenericRecord(await restore(services, context, args), args.collection),
  ),
  undoChange: transactional(
    member.of(
      UndoneResult,
      'Undoes all changes of a request, or none: removes the records it created, and ' +
        'restores those it changed or removed. Admins may undo any request, others only their' +
        ' own. Errors: NOT_FOUND, CONFLICT naming the records that were changed later, or with the number ' +
        'of records that point to those it created.',
    ),
    {
      requestId: member.text(
        'The request, by the header `X-Request-Id` of its answer or by `recordHistory`.',
      ),
      force: FORCE_ARGUMENT,
    },
    ({ store }, _scope, { requestId, force }, { context }) =>
      writeOnce<Undone, { changed: number; removed: number; broughtBack: number }>(store, context, {
        writes: 'anything',
        request: () => ['undo', requestId, ...(force ? ['force'] : [])],
        run: (scope, options) => store.undo(scope, requestId, { ...options, force }),
        keep: (undone) => ({ ...undone }),
        recall: (kept) => kept,
      }),
  ),
}));

/** @throws INVALID_VALUE */
function toVersion(cursor: string, parameter: string): number {
  if (/^[1-9]\d{0,8}$/.test(cursor)) return Number(cursor);
  throw wrong(parameter, 'it is not a cursor of a history', 'the endCursor of a page');
}

function toInstant(text: string, timeZone: string): Date {
  const instant = instantFrom(text, timeZone);
  if (instant !== undefined) return new Date(instant);
  throw wrong('at', 'not an instant of the years 0 to 9999', 'an instant such as "2026-07-01T04:30:00Z"');
}

/** @throws INVALID_VALUE */
function toMoment(
  { domain }: Scope,
  { version, at }: { readonly version?: number | undefined; readonly at?: string | undefined },
): Moment {
  if (version !== undefined && at === undefined) return { version };
  if (at !== undefined && version === undefined) return { at: toInstant(at, domain.timeZone) };
  throw wrong('version', 'pass either a version or an instant', 'version or at, one of the two');
}

function wrong(parameter: string, detail: string, expected: string): ServiceError {
  return invalidAt(`${parameter}: ${detail}; ${expected} is expected`, { parameter, detail, expected });
}
