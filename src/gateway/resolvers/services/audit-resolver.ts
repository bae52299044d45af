/** The resolvers of the audit trail: author, object, time and version of each change. For admins. */
import { member, nullable, objectType } from '../../../base/scalars/declared-type.js';
import type { RecordStore } from '../../../store/record-store.js';
import { instantRange } from '../instant-range.js';
import { type PageSizes, toPageRequest } from '../page-arguments.js';
import { type FieldRows, serviceResolver } from '../service-resolver.js';

const AuditEntryResult = objectType('AuditEntry', 'One change of a record or of another audited object.', {
  id: member.id('Increases with time. Pass it as `before`.'),
  at: member.instant('When it happened.'),
  collection: member.text(
    'The collection of the record; `$apiKey`, `$webhook`, `$accountLink`, ' +
      '`$secondFactor`, `$session`, `$collection`, `$property` or `$domain` for other ' +
      'objects.',
  ),
  recordId: member.id(
    'The id of the record, key or webhook; of links, passwords, second factors and sessions (log-ins ' +
      'included) that of the user.',
  ),
  operation: member.text(
    '`created`, `updated` or `deleted`; `exported` or `erased` for the data of a person; ' +
      '`rotated` or `revoked` for keys and other credentials; `refused` for a wrong log-in, ' +
      '`unlocked` for the end of a lock-out. Objects other than records have version 0.',
  ),
  fromVersion: nullable.whole('The version before; null for a create.'),
  toVersion: member.whole('The version after.'),
  principal: member.text('The id of the user, or the name of the task.'),
  credential: member.text(
    '`token:<session>`, `key:<id>`, `system:<task>`, or for a log-in `address:<IP address>`.',
  ),
  requestId: member.text('The request that made the change; the log has it too.'),
  requestOperation: nullable.text(
    'The name of the GraphQL operation, or the template of the route. Null if no request ' +
      'made the change, or if this was not recorded yet.',
  ),
});

export const AuditResolver = serviceResolver(
  ({ query }: FieldRows<{ readonly store: RecordStore; readonly pages: PageSizes }>) => ({
    auditTrail: query(
      member.list(
        AuditEntryResult,
        'The changes in this domain to records, keys, users and other audited objects, the ' +
          'newest first. For admins. Errors: FORBIDDEN, INVALID_VALUE.',
      ),
      {
        collection: nullable.text('Of this collection only.'),
        recordId: nullable.id('Of this record only.'),
        operation: nullable.text('Of this operation only, e.g. "deleted".'),
        principal: nullable.id('Made by this user or task only.'),
        credential: nullable.text(
          'By credentials of this kind only, `token`, `key` or `system`, or by one, e.g. `key:<id>`.',
        ),
        requestId: nullable.text('Made by this request only.'),
        from: nullable.isoInstant(
          'Only changes at this instant or later; a day begins in the zone of the domain.',
        ),
        until: nullable.isoInstant('Only changes before this instant.'),
        first: nullable.whole('The most to return.'),
        before: nullable.id('Only entries older than the one with this id, the last of the previous page.'),
      },
      ({ store, pages }, scope, { first, from, until, ...query }) =>
        store.auditTrail(scope, {
          ...query,
          ...instantRange({ from, until }, scope.domain.timeZone),
          limit: toPageRequest({ first }, pages).limit,
        }),
    ),
  }),
);
