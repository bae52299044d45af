/**
 * The list of resolvers: everything GraphQL and REST can reach, except the reports and the typed collections.
 */

import type { DeclaredAct } from '../../school/acts/read-acts.js';
import type { Prints } from '../../school/prints/read-prints.js';
import type { Report } from '../../school/reports/engine/report.js';
import type { Promotions } from '../../school/reports/promotion/promotions.js';
import type { DueRaising } from '../../school/reports/receipts/due-raising.js';
import type { Receipts } from '../../school/reports/receipts/receipts.js';
import type { DeclaredSheet } from '../../school/sheets/read-sheets.js';
import type { AccountLinks } from '../../services/auth/account-links.js';
import type { ApiKeys } from '../../services/auth/api-keys.js';
import type { Authenticator } from '../../services/auth/authenticator.js';
import type { FirstRun } from '../../services/auth/first-run.js';
import type { Invitations } from '../../services/auth/invitations.js';
import type { KeyFigures } from '../../services/auth/key-figures.js';
import type { Profiles } from '../../services/auth/profiles.js';
import type { ProviderSessions } from '../../services/auth/provider-sessions.js';
import type { SecondFactors } from '../../services/auth/second-factors.js';
import type { SessionAdmin } from '../../services/auth/session-admin.js';
import type { Users } from '../../services/auth/users.js';
import type { Files } from '../../services/files/files.js';
import type { Imports } from '../../services/importing/imports.js';
import type { MessageAdmin } from '../../services/messaging/message-admin.js';
import type { Messages } from '../../services/messaging/messages.js';
import type { Persons } from '../../services/persons/persons.js';
import type { ScriptRuns } from '../../services/scripting/library/script-runs.js';
import type { Scripts } from '../../services/scripting/library/scripts.js';
import type { ScriptLog } from '../../services/scripting/script-log.js';
import type { Webhooks } from '../../services/webhooks/webhooks.js';
import type { Catalog } from '../../store/catalog/catalog.js';
import type { Domains } from '../../store/catalog/domains.js';
import type { RecordStore } from '../../store/record-store.js';
import type { PageSizes } from './page-arguments.js';
import { BulkResolver } from './records/bulk/bulk-resolver.js';
import { BulkWrites } from './records/bulk/bulk-writes.js';
import { HistoryResolver } from './records/history-resolver.js';
import { RecordResolver } from './records/record-resolver.js';
import { DueResolver } from './reports/due-resolver.js';
import { PromotionResolver } from './reports/promotion-resolver.js';
import { ReceiptResolver } from './reports/receipt-resolver.js';
import { AuditResolver } from './services/audit-resolver.js';
import { AuthResolver } from './services/auth-resolver.js';
import { BranchResolver } from './services/branch-resolver.js';
import { CallerResolver } from './services/caller-resolver.js';
import type { ListedOperation } from './services/caller-rights.js';
import { CollectionResolver } from './services/collection-resolver.js';
import { FileResolver } from './services/file-resolver.js';
import { FirstRunResolver } from './services/first-run-resolver.js';
import { HealthResolver, type HealthServices } from './services/health-resolver.js';
import { ImportResolver } from './services/import-resolver.js';
import { KeyUsageResolver } from './services/key-usage-resolver.js';
import { MessageResolver } from './services/message-resolver.js';
import { PersonResolver } from './services/person-resolver.js';
import { PropertyResolver } from './services/property-resolver.js';
import { ScriptResolver } from './services/script-resolver.js';
import { SecondFactorResolver } from './services/second-factor-resolver.js';
import { UserResolver } from './services/user-resolver.js';
import { WebhookResolver } from './services/webhook-resolver.js';

/** The services of the resolvers, constructed by `app.ts`. */
export interface ResolverServices extends HealthServices {
  readonly maxRecordsPerWrite: number;
  readonly store: RecordStore;
  readonly catalog: Catalog;
  readonly domains: Domains;
  readonly reports: readonly Report[];
  /** The operations library. */
  readonly operations: readonly ListedOperation[];
  readonly authenticator: Authenticator;
  /** `undefined`: no identity provider is configured. */
  readonly providerSessions: ProviderSessions | undefined;
  readonly profiles: Profiles;
  readonly users: Users;
  readonly webhooks: Webhooks;
  readonly firstRun: FirstRun;
  readonly invitations: Invitations;
  readonly accountLinks: AccountLinks;
  readonly sessionAdmin: SessionAdmin;
  readonly secondFactors: SecondFactors;
  readonly apiKeys: ApiKeys;
  readonly keyFigures: KeyFigures;
  readonly scripts: Scripts;
  readonly scriptRuns: ScriptRuns;
  readonly scriptLog: ScriptLog;
  readonly messages: Messages;
  readonly messageAdmin: MessageAdmin;
  readonly files: Files;
  readonly persons: Persons;
  readonly imports: Imports;
  readonly receipts: Receipts;
  readonly sheets: readonly DeclaredSheet[];
  readonly acts: readonly DeclaredAct[];
  readonly prints: Prints;
  readonly promotions: Promotions;
  readonly dueRaising: DueRaising;
  readonly pages: PageSizes;
  /** For how long the removal of a record is remembered. */
  readonly keepRemovedDays: number;
}

export interface Resolvers {
  readonly records: RecordResolver;
  readonly bulk: BulkResolver;
  readonly health: HealthResolver;
  readonly history: HistoryResolver;
  readonly imports: ImportResolver;
  readonly collections: CollectionResolver;
  readonly auth: AuthResolver;
  readonly branches: BranchResolver;
  readonly caller: CallerResolver;
  readonly audit: AuditResolver;
  readonly scripts: ScriptResolver;
  readonly secondFactors: SecondFactorResolver;
  readonly users: UserResolver;
  readonly webhooks: WebhookResolver;
  readonly keyUsage: KeyUsageResolver;
  readonly messages: MessageResolver;
  readonly files: FileResolver;
  readonly firstRun: FirstRunResolver;
  readonly persons: PersonResolver;
  readonly properties: PropertyResolver;
  readonly receipts: ReceiptResolver;
  readonly promotions: PromotionResolver;
  readonly dues: DueResolver;
}

/** In the order in which the schema shows their fields. */
export const RESOLVER_CLASSES = [
  RecordResolver,
  ReceiptResolver,
  PromotionResolver,
  DueResolver,
  AuditResolver,
  AuthResolver,
  BranchResolver,
  BulkResolver,
  CallerResolver,
  CollectionResolver,
  FileResolver,
  FirstRunResolver,
  HealthResolver,
  HistoryResolver,
  KeyUsageResolver,
  ImportResolver,
  MessageResolver,
  PersonResolver,
  PropertyResolver,
  ScriptResolver,
  SecondFactorResolver,
  UserResolver,
  WebhookResolver,
] as const;

export function createResolvers(services: ResolverServices): Resolvers {
  return {
    records: new RecordResolver(services),
    bulk: new BulkResolver({ writes: new BulkWrites(services), pages: services.pages }),
    health: new HealthResolver(services),
    history: new HistoryResolver(services),
    imports: new ImportResolver(services),
    collections: new CollectionResolver(services),
    auth: new AuthResolver(services),
    branches: new BranchResolver(services),
    caller: new CallerResolver({ ...services, rights: services }),
    audit: new AuditResolver(services),
    scripts: new ScriptResolver(services),
    secondFactors: new SecondFactorResolver(services.secondFactors),
    webhooks: new WebhookResolver(services),
    users: new UserResolver({ ...services, rights: services }),
    keyUsage: new KeyUsageResolver(services.keyFigures),
    messages: new MessageResolver(services),
    files: new FileResolver(services),
    firstRun: new FirstRunResolver(services.firstRun),
    properties: new PropertyResolver(services),
    persons: new PersonResolver(services),
    receipts: new ReceiptResolver(services.receipts),
    promotions: new PromotionResolver(services),
    dues: new DueResolver(services),
  };
}
