/**
 * The list of resolvers: everything GraphQL and REST can reach, except the reports and the typed collections.
 */
import { HistoryResolver } from './records/history-resolver.js';
import { RecordResolver } from './records/record-resolver.js';
import { SchoolResolver } from './reports/school-resolver.js';
import { AuditResolver } from './services/audit-resolver.js';
import { AuthResolver } from './services/auth-resolver.js';
import { BranchResolver } from './services/branch-resolver.js';
import { CallerResolver } from './services/caller-resolver.js';
import { CollectionResolver } from './services/collection-resolver.js';
import { FileResolver } from './services/file-resolver.js';
import { FirstRunResolver } from './services/first-run-resolver.js';
import { HealthResolver } from './services/health-resolver.js';
import { ImportResolver } from './services/import-resolver.js';
import { KeyUsageResolver } from './services/key-usage-resolver.js';
import { MessageResolver } from './services/message-resolver.js';
import { PersonResolver } from './services/person-resolver.js';
import { PropertyResolver } from './services/property-resolver.js';
import { ScriptResolver } from './services/script-resolver.js';
import { SecondFactorResolver } from './services/second-factor-resolver.js';
import { UserResolver } from './services/user-resolver.js';
import { WebhookResolver } from './services/webhook-resolver.js';

/** In the order in which the schema shows their fields. */
const CLASSES = {
  records: RecordResolver,
  school: SchoolResolver,
  audit: AuditResolver,
  auth: AuthResolver,
  branches: BranchResolver,
  caller: CallerResolver,
  collections: CollectionResolver,
  files: FileResolver,
  firstRun: FirstRunResolver,
  health: HealthResolver,
  history: HistoryResolver,
  keyUsage: KeyUsageResolver,
  imports: ImportResolver,
  messages: MessageResolver,
  persons: PersonResolver,
  properties: PropertyResolver,
  scripts: ScriptResolver,
  secondFactors: SecondFactorResolver,
  users: UserResolver,
  webhooks: WebhookResolver,
} as const;

export const RESOLVER_CLASSES: readonly NewableFunction[] = Object.values(CLASSES);

type ResolverName = keyof typeof CLASSES;

export type Resolvers = { readonly [Name in ResolverName]: InstanceType<(typeof CLASSES)[Name]> };

type All<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer Every) => void
  ? Every
  : never;

/** The services that the constructors of all resolvers need. */
export type ResolverServices = All<ConstructorParameters<(typeof CLASSES)[ResolverName]>[0]>;

export function createResolvers(services: ResolverServices): Resolvers {
  const made = Object.entries(CLASSES).map(([name, ResolverClass]) => [name, new ResolverClass(services)]);
  return Object.fromEntries(made) as Resolvers;
}
