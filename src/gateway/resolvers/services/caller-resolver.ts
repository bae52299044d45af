/** The door to the caller: whom the credential represents, and what that user may do. */
import type { GraphQLResolveInfo, GraphQLSchema } from 'graphql';
import { Arg, Ctx, Info, Mutation, Query, Resolver } from 'type-graphql';
import { ServiceError } from '../../../base/errors.js';
import type { JsonValue } from '../../../base/json/json.js';
import type { Domain, Scope } from '../../../base/model/scope.js';
import type { ValueOf } from '../../../base/scalars/declared-type.js';
import { GraphqlJsonScalar } from '../../../base/scalars/json-scalar.js';
import { type DeclaredAct, mayAct, printAct } from '../../../school/acts/read-acts.js';
import {
  type DeclaredPrint,
  headOfPrint,
  mayPrint,
  type Prints,
  schoolHead,
  wholePrint,
} from '../../../school/prints/read-prints.js';
import { schoolSettings } from '../../../school/reports/engine/school-settings.js';
import type { Receipts } from '../../../school/reports/receipts/receipts.js';
import { type DeclaredSheet, mayFillIn, printSheet } from '../../../school/sheets/read-sheets.js';
import type { ApiKeys } from '../../../services/auth/api-keys.js';
import type { Profiles } from '../../../services/auth/profiles.js';
import type { Imports } from '../../../services/importing/imports.js';
import type { Messages } from '../../../services/messaging/messages.js';
import { SMS_COLLECTION } from '../../../services/messaging/sms/sms-log.js';
import type { Webhooks } from '../../../services/webhooks/webhooks.js';
import { type RequestContext, requireScope } from '../request-context.js';
import { CallerResult } from './caller-result.js';
import { CallerRights, mayRun, type RightsSources } from './caller-rights.js';

export interface CallerServices extends RightsSources {
  readonly profiles: Pick<Profiles, 'find' | 'setLanguage'>;
  readonly apiKeys: Pick<ApiKeys, 'mayHave'>;
  readonly webhooks: Pick<Webhooks, 'mayHave'>;
  readonly imports: Pick<Imports, 'rights'>;
  readonly domains: {
    top(): Domain | undefined;
    listFor(scope: Scope): readonly Domain[];
    property(domainId: string, name: string): JsonValue | undefined;
  };
  readonly maxRecordsPerWrite: number;
  readonly receipts: Pick<Receipts, 'mayRecord'>;
  readonly sheets: readonly DeclaredSheet[];
  readonly acts: readonly DeclaredAct[];
  readonly messages: Pick<Messages, 'mayEmail'>;
  readonly prints: Prints;
}

@Resolver()
export class CallerResolver {
  readonly #services: CallerServices;

  constructor(services: CallerServices) {
    this.#services = services;
  }

  @Query(() => CallerResult, { description: 'Who you are, where you work, and what you may do.' })
  me(@Ctx() context: RequestContext, @Info() { schema }: GraphQLResolveInfo): object {
    return new Caller(requireScope(context), this.#services, schema);
  }

  /** @throws NOT_FOUND unless the caller may print it */
  @Query(() => GraphqlJsonScalar, {
    description:
      'A document of `me.prints` with its query, its template in Liquid and its style, and the name, ' +
      'address and logo of the school. Errors: NOT_FOUND.',
  })
  print(
    @Ctx() context: RequestContext,
    @Arg('name', () => String, { description: 'Its name in `me.prints`.' }) name: string,
    @Info() info: GraphQLResolveInfo,
  ): JsonValue {
    const scope = requireScope(context);
    const { domains, prints } = this.#services;
    const print = new Caller(scope, this.#services, info.schema).printable.find(
      ({ definition }) => definition.name === name,
    );
    if (!print) throw new ServiceError('NOT_FOUND', `There is no document "${name}" that you may print.`);
    const school = schoolHead((key) => domains.property(scope.domain.id, key), scope.domain.name);
    return { ...wholePrint(print, prints), school };
  }

  /** @throws FORBIDDEN for an API key, INVALID_VALUE for another language */
  @Mutation(() => Boolean, {
    description: 'Sets the language of your pages. Errors: INVALID_VALUE, FORBIDDEN.',
  })
  async setLanguage(
    @Ctx() context: RequestContext,
    @Arg('language', () => String, {
      nullable: true,
      description: '"en" or "hi"; null: that of the browser.',
    })
    language: string | null | undefined,
  ): Promise<boolean> {
    await this.#services.profiles.setLanguage(requireScope(context), language ?? undefined);
    return true;
  }
}

/** Each field is computed only if selected; name and language are read together, once. */
class Caller implements Record<keyof ValueOf<typeof CallerResult>, unknown> {
  readonly #scope: Scope;
  readonly #services: CallerServices;
  readonly #schema: GraphQLSchema;
  readonly #rights: CallerRights;
  #profile: ReturnType<Profiles['find']> | undefined;

  constructor(scope: Scope, services: CallerServices, schema: GraphQLSchema) {
    this.#scope = scope;
    this.#services = services;
    this.#schema = schema;
    this.#rights = new CallerRights(scope, services);
  }

  get id() {
    return this.#scope.principal.id;
  }
  get userName() {
    return this.#scope.principal.userName;
  }
  get roles() {
    return [...this.#scope.principal.roles].sort();
  }
  get domain() {
    return this.#scope.domain;
  }
  get credential() {
    return this.#scope.principal.credential.kind;
  }
  get scopes() {
    return this.#scope.principal.scopes;
  }
  get branches() {
    return this.#services.domains.listFor(this.#scope);
  }
  get name() {
    return this.#readProfile().then(({ name }) => name);
  }
  get language() {
    return this.#readProfile().then(({ language }) => language ?? null);
  }
  get collections() {
    return this.#rights.collections;
  }
  get reports() {
    return this.#rights.reports;
  }
  get operations() {
    return this.#rights.operations;
  }
  get maxRecordsPerWrite() {
    return this.#services.maxRecordsPerWrite;
  }
  get sessionFirstMonth() {
    return this.#settings.sessionFirstMonth;
  }
  get grades() {
    return this.#settings.grades.map(({ from, grade }) => ({ from, grade }));
  }
  get sheets() {
    return this.#services.sheets.filter((sheet) => mayFillIn(this.#scope, sheet)).map(printSheet);
  }
  get acts() {
    const may = (name: string) => (Reflect.get(this, name) as unknown) === true;
    return this.#services.acts
      .filter((act) => mayAct(this.#scope, act, may))
      .map((act) => printAct(act, this.#schema));
  }
  get maySendEmail() {
    return this.#services.messages.mayEmail(this.#scope);
  }
  get maySendSms() {
    return this.#rights.collections.some(({ name, canCreate }) => name === SMS_COLLECTION && canCreate);
  }
  get prints() {
    return this.printable.map(headOfPrint);
  }
  get printable(): readonly DeclaredPrint[] {
    const { prints, catalog, reports } = this.#services;
    const sources = {
      collections: catalog.list(),
      mayRecordReceipts: this.mayRecordReceipts,
      mayRun: (field: string) => {
        const report = reports.find((one) => one.field === field);
        return report && mayRun(this.#scope, report);
      },
    };
    return prints.list.filter((print) => mayPrint(this.#scope, print, sources));
  }
  get mayRecordReceipts() {
    return this.#services.receipts.mayRecord(this.#scope);
  }
  get mayHaveKeys() {
    return this.#services.apiKeys.mayHave(this.#scope);
  }
  get mayHaveWebhooks() {
    return this.#services.webhooks.mayHave(this.#scope);
  }
  get mayImport() {
    return this.#services.imports.rights.mayHave(this.#scope);
  }
  get duties() {
    return this.#rights.duties;
  }

  get #settings() {
    return schoolSettings((name) => this.#services.domains.property(this.#scope.domain.id, name));
  }

  #readProfile() {
    this.#profile ??= this.#services.profiles.find(this.#scope.principal);
    return this.#profile;
  }
}
