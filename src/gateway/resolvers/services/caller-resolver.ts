/** The resolvers of the caller: the user of the credential, and the rights of that user. */
import type { GraphQLSchema } from 'graphql';
import { ServiceError } from '../../../base/errors.js';
import type { JsonValue } from '../../../base/json/json.js';
import type { Domain, Scope } from '../../../base/model/scope.js';
import { member, nullable, objectType } from '../../../base/scalars/declared-type.js';
import { type DeclaredAct, mayAct, printAct } from '../../../school/acts/read-acts.js';
import {
  headOfPrint,
  mayPrint,
  type Prints,
  schoolHead,
  wholePrint,
} from '../../../school/prints/read-prints.js';
import { schoolSettings } from '../../../school/reports/engine/school-settings.js';
import { type DeclaredSheet, mayFillIn, printSheet } from '../../../school/sheets/read-sheets.js';
import type { Profile, Users } from '../../../services/auth/users.js';
import { SMS_COLLECTION } from '../../../services/messaging/sms/sms-log.js';
import { type RequestContext, requireScope } from '../request-context.js';
import { type FieldRows, serviceResolver } from '../service-resolver.js';
import { callerReach, type ReachSources } from './caller-reach.js';
import { callerRights, mayRun, type RightsSources } from './caller-rights.js';

export const CallerDomain = objectType(
  'CallerDomain',
  'The school, or part of a school, that a request works in.',
  {
    id: member.id('The value of the header `X-Domain`.'),
    name: member.text('The name shown to people.'),
    timeZone: member.text('Days and months are those of this time zone, e.g. "Asia/Kolkata".'),
  },
);

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

export const ReportRightResult = objectType('ReportRight', 'A report that a user may run.', {
  name: member.text('Its name, as `report=` takes it, e.g. "fee-defaulters".'),
  field: member.text('Its field of `Query`, e.g. "feeDefaulters".'),
  title: member.text('The name shown to people.'),
  description: member.text('The meaning of the report.'),
});

export const OperationRightResult = objectType(
  'OperationRight',
  'An operation of the library that is written for a user.',
  {
    name: member.text('Its name in `/explore/operations.json`.'),
    title: member.text('The name shown to people.'),
    description: member.text('What it shows.'),
    topic: member.text('Its topic, e.g. "Fees".'),
    kind: member.text('`query`, `mutation` or `subscription`.'),
  },
);

const CallerResult = objectType('Caller', 'Who you are, where you work, and what you may do.', {
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
    'The acts you may do, as declared in schema/acts: mutations with the inputs they need, and pages, ' +
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

export interface CallerServices extends RightsSources, ReachSources {
  readonly users: Pick<Users, 'profileOf' | 'setLanguage'>;
  readonly domains: {
    top(): Domain | undefined;
    listFor(scope: Scope): readonly Domain[];
    property(domainId: string, name: string): JsonValue | undefined;
  };
  readonly maxRecordsPerWrite: number;
  readonly sheets: readonly DeclaredSheet[];
  readonly acts: readonly DeclaredAct[];
  readonly prints: Prints;
}

export const CallerResolver = serviceResolver(({ query, done }: FieldRows<CallerServices>) => ({
  me: query(
    member.of(CallerResult, 'Who you are, where you work, and what you may do.'),
    {},
    (services, scope, _sent, { info }) => callerOf(scope, services, info.schema),
  ),
  /** @throws NOT_FOUND unless the caller may print it */
  print: query(
    member.json(
      'A document of `me.prints` with its query, its template in Liquid and its style, and the name, ' +
        'address and logo of the school. Errors: NOT_FOUND.',
    ),
    { name: member.text('Its name in `me.prints`.') },
    (services, scope, { name }) => {
      const { domains, prints } = services;
      const print = printable(scope, services).find(({ definition }) => definition.name === name);
      if (!print) throw new ServiceError('NOT_FOUND', `There is no document "${name}" that you may print.`);
      const school = schoolHead((key) => domains.property(scope.domain.id, key), scope.domain.name);
      return { ...wholePrint(print, prints), school };
    },
  ),
  /** For the contracts that are made for callers. @throws UNAUTHENTICATED */
  reach: (services: CallerServices, context: RequestContext) => callerReach(requireScope(context), services),
  /** @throws FORBIDDEN for an API key, INVALID_VALUE for another language */
  setLanguage: done(
    'Sets the language of your pages. Errors: INVALID_VALUE, FORBIDDEN.',
    { language: nullable.text('"en" or "hi"; null: that of the browser.') },
    ({ users }, scope, { language }) => users.setLanguage(scope, language),
  ),
}));

/** Each field is computed only if selected; name and language are read together, once. */
function callerOf(scope: Scope, services: CallerServices, schema: GraphQLSchema) {
  const { principal, domain } = scope;
  const { domains, imports, messages, apiKeys, webhooks, receipts, users } = services;
  const rights = callerRights(scope, services);
  const settings = () => schoolSettings((name) => domains.property(domain.id, name));
  let profile: Promise<Profile> | undefined;
  const readProfile = () => {
    profile ??= users.profileOf(principal);
    return profile;
  };
  const permissions = {
    maySendEmail: () => messages.mayEmail(scope),
    maySendSms: () =>
      rights.collections().some(({ name, canCreate }) => name === SMS_COLLECTION && canCreate),
    mayRecordReceipts: () => receipts.mayRecord(scope),
    mayHaveKeys: () => apiKeys.mayHave(scope),
    mayHaveWebhooks: () => webhooks.mayHave(scope),
    mayImport: () => imports.rights.mayHave(scope),
  };
  const may = (name: string) => new Map(Object.entries(permissions)).get(name)?.() === true;
  return {
    ...{ domain, ...rights, ...permissions },
    id: principal.id,
    userName: principal.userName,
    roles: [...principal.roles].sort(),
    credential: principal.credential.kind,
    scopes: principal.scopes,
    branches: () => domains.listFor(scope),
    name: async () => (await readProfile()).name,
    language: async () => (await readProfile()).language ?? null,
    maxRecordsPerWrite: services.maxRecordsPerWrite,
    sessionFirstMonth: () => settings().sessionFirstMonth,
    grades: () => settings().grades.map(({ from, grade }) => ({ from, grade })),
    sheets: () => services.sheets.filter((sheet) => mayFillIn(scope, sheet)).map(printSheet),
    acts: () => services.acts.filter((act) => mayAct(scope, act, may)).map((act) => printAct(act, schema)),
    prints: () => printable(scope, services).map(headOfPrint),
  };
}

/** The documents that the caller may print. */
function printable(scope: Scope, { prints, catalog, reports, receipts }: CallerServices) {
  const sources = {
    collections: catalog.list(),
    mayRecordReceipts: receipts.mayRecord(scope),
    mayRun: (field: string) => {
      const report = reports.find((one) => one.field === field);
      return report && mayRun(scope, report);
    },
  };
  return prints.list.filter((print) => mayPrint(scope, print, sources));
}
