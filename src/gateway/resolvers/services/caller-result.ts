/** The types of the caller and of a user's rights. */

import { member, nullable, objectType, type ValueOf } from '../../../base/scalars/declared-type.js';

export const CallerDomain = objectType(
  'CallerDomain',
  'The school, or part of a school, that a request works in.',
  {
    id: member.id('The value of the header `X-Domain`.'),
    name: member.text('The name shown to people.'),
    timeZone: member.text('Days and months are those of this time zone, e.g. "Asia/Kolkata".'),
  },
);
export type CallerDomain = ValueOf<typeof CallerDomain>;

export const CollectionRightsResult = objectType(
  'CollectionRights',
  'What a user may do with the records of a collection.',
  {
    name: member.text('The collection, e.g. "task".'),
    title: member.text('The name shown to people.'),
    isDeclared: member.flag('It comes with the gateway; the others were registered at run time.'),
    canRead: member.flag('Whether records may be read.'),
    canCreate: member.flag('Whether records may be made.'),
    canUpdate: member.flag('Whether records may be changed.'),
    canRemove: member.flag('Whether records may be removed.'),
    isLimitedToRows: member.flag(
      'Whether only some of its records are in reach, e.g. those of the sections a teacher ' + 'teaches.',
    ),
    readableFields: member.texts('The declared fields that the user may read.'),
    creatableFields: member.texts('The declared fields that may be set in a new record.'),
    updatableFields: member.texts('The declared fields that may be changed.'),
  },
);
export type CollectionRightsResult = ValueOf<typeof CollectionRightsResult>;

export const ReportRightResult = objectType('ReportRight', 'A report that a user may run.', {
  name: member.text('Its name, as `report=` takes it, e.g. "fee-defaulters".'),
  field: member.text('Its field of `Query`, e.g. "feeDefaulters".'),
  title: member.text('The name shown to people.'),
  description: member.text('What it tells.'),
});
export type ReportRightResult = ValueOf<typeof ReportRightResult>;

export const OperationRightResult = objectType(
  'OperationRight',
  'An operation of the library that is written for a user.',
  {
    name: member.text('Its name in `/explore/operations.json`.'),
    title: member.text('The name shown to people.'),
    description: member.text('What it shows.'),
    topic: member.text('What it is about, e.g. "Fees".'),
    kind: member.text('`query`, `mutation` or `subscription`.'),
  },
);
export type OperationRightResult = ValueOf<typeof OperationRightResult>;

export const CallerResult = objectType('Caller', 'Who you are, where you work, and what you may do.', {
  id: member.id('The id of your record in `pltf_user`.'),
  userName: member.text('Your login name.'),
  name: member.text('Your full name.'),
  roles: member.texts('Your roles, in alphabetical order.'),
  domain: member.of(CallerDomain, 'The domain of this request.'),
  branches: member.list(
    CallerDomain,
    'The domains you may work in, by the header `X-Domain`: your own, or for an admin of the ' +
      'top domain all.',
  ),
  language: nullable.text('The language you chose by `setLanguage`, e.g. "hi"; null: that of your browser.'),
  credential: member.text('The kind of credential: `token`, or `key` for an API key.'),
  scopes: nullable.anyJson('The scope of an API key; null for a token.'),
  collections: member.list(CollectionRightsResult, 'The collections in which you have any right, by name.'),
  reports: member.list(ReportRightResult, 'The reports you may run.'),
  operations: member.list(OperationRightResult, 'The operations of the library that are for you.'),
  mayHaveKeys: member.flag('Whether you may make API keys (API_KEY_ROLES).'),
  mayHaveWebhooks: member.flag('Whether you may have webhooks (WEBHOOK_ROLES).'),
  mayImport: member.flag(
    'Whether you may import files (IMPORT_ROLES), into collections whose records you may read, create ' +
      'and update.',
  ),
  maxRecordsPerWrite: member.whole(
    'How many records one request may change or remove together (MAX_RECORDS_PER_WRITE).',
  ),
  sessionFirstMonth: member.whole(
    'The month with which sessions of the school begin, 1 to 12 (property `sessionFirstMonth`).',
  ),
  grades: member.json('The grades, highest first, and their least percent: [{from: 91, grade: "A1"}, …].'),
  sheets: member.json(
    'The sheets you may fill in, as declared in schema/sheets: pages with one row for each member of ' +
      'a set, whose records are saved together with `upsertRecords`.',
  ),
  acts: member.json(
    'The acts you may do, as declared in schema/acts: mutations with the inputs they ask for, and pages, ' +
      'by where they are shown.',
  ),
  maySendSms: member.flag('Whether you may call `sendSms`.'),
  maySendEmail: member.flag('Whether you may call `sendEmail` (EMAIL_ROLES).'),
  prints: member.json(
    'The documents you may print, as declared in schema/prints; `print` returns a whole one.',
  ),
  mayRecordReceipts: member.flag('Whether you may call `recordReceipt` and `rollBackReceipt`.'),
  duties: member.texts(
    'The areas that you manage: `users`, `keys` (of others), `scripts`, `messages`, ' +
      '`files` (of others), `settings`, `audit`, and for admins of the top domain ' +
      '`collections`, `branches`, `backups`, `health`.',
  ),
});
export type CallerResult = ValueOf<typeof CallerResult>;
