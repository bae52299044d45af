/**
 * `@transaction`: runs the root fields of a mutation in one database transaction, one after the other. If one
 * fails, all are rolled back, each field has an error, and nothing is published: changes of rights, events
 * and jobs leave with the commit.
 *
 *   mutation Enrol @transaction { createTask(…) { id } updateTasks(…) { count } }
 *
 * The answer is read in the transaction too, so it shows what was written.
 */
import {
  DirectiveLocation,
  type FieldNode,
  GraphQLDirective,
  type GraphQLError,
  locatedError,
  OperationTypeNode,
} from 'graphql';
import { collectFields } from 'graphql/execution/collectFields.js';
import { ServiceError } from '../../../base/errors.js';
import type { Transaction } from '../../../store/database/queryable.js';
import type { RecordStore } from '../../../store/record-store.js';
import { isTransactionalField } from '../../resolvers/records/transactional.js';
import { requireScope } from '../../resolvers/request-context.js';
import type { OperationRequest, Outcome } from './prepared-operation.js';

export const TRANSACTION_DIRECTIVE = new GraphQLDirective({
  name: 'transaction',
  description:
    'Runs all root fields in one transaction, one after the other. If one fails, none ' +
    'takes effect. For mutations of records and receipts.',
  locations: [DirectiveLocation.MUTATION],
});

export function isTransaction({ prepared: { operation } }: Pick<OperationRequest, 'prepared'>): boolean {
  return (
    operation.operation === OperationTypeNode.MUTATION &&
    operation.directives?.some((directive) => directive.name.value === TRANSACTION_DIRECTIVE.name) === true
  );
}

/**
 * Refuses a transaction with fields that cannot be rolled back together.
 *
 * @throws MALFORMED_REQUEST (400) naming the fields; UNAUTHENTICATED, since every such field needs a caller
 */
export function assertTransactional(request: OperationRequest): void {
  requireScope(request.context);
  const { schema, rootFieldNames } = request.prepared;
  const fields = schema.getMutationType()?.getFields() ?? {};
  const others = rootFieldNames.filter((name) => {
    const definition = fields[name];
    return definition && !isTransactionalField(definition);
  });
  if (others.length === 0) return;
  const detail =
    `@transaction: ${others.join(', ')} cannot be part of a transaction; only mutations of records and ` +
    'receipts can.';
  throw new ServiceError('MALFORMED_REQUEST', detail, {
    errors: others.map((name) => ({ detail: `${name} cannot be undone`, parameter: name })),
  });
}

/** Executes the operation in a transaction. `execute` is graphql-js, with the context to use. */
export async function executeInTransaction(
  request: OperationRequest,
  store: Pick<RecordStore, 'transaction'>,
  execution: {
    readonly variableValues: Record<string, unknown>;
    readonly execute: (request: OperationRequest) => Promise<Outcome>;
  },
): Promise<Outcome> {
  try {
    const scope = requireScope(request.context);
    const work = async (transaction: Transaction): Promise<Outcome> => {
      const context = { ...request.context, transaction: oneByOne(transaction) };
      const outcome = await execution.execute({ ...request, context });
      // If the connection was cancelled, nothing is committed.
      context.signal.throwIfAborted();
      if (outcome.errors.length > 0) throw new RolledBack(outcome.errors);
      return outcome;
    };
    return await store.transaction(scope, work);
  } catch (error) {
    const fields = rootFields(request, execution.variableValues);
    const data = Object.fromEntries([...fields.keys()].map((key) => [key, null]));
    if (error instanceof RolledBack) return { data, errors: withOthers(error.errors, fields) };
    // The transaction itself failed, at its beginning or at its end.
    return { data, errors: [...fields].map(([key, nodes]) => locatedError(error, nodes, [key])) };
  }
}

class RolledBack extends Error {
  constructor(readonly errors: readonly GraphQLError[]) {
    super('a field of a transaction failed', { cause: errors[0]?.originalError });
  }
}

/** Adds an error for each field that did not fail itself: it was rolled back or never begun. */
function withOthers(
  errors: readonly GraphQLError[],
  fields: ReadonlyMap<string, readonly FieldNode[]>,
): readonly GraphQLError[] {
  const failed = new Set(errors.map((error) => error.path?.[0]));
  const [culprit] = failed;
  const others = [...fields].filter(([key]) => !failed.has(key));
  return [
    ...errors,
    ...others.map(([key, nodes]) => {
      const message =
        `${key} is not done: ${String(culprit ?? 'another field')} failed, and with it the whole ` +
        'transaction.';
      return locatedError(new ServiceError('ROLLED_BACK', message), nodes, [key]);
    }),
  ];
}

function rootFields(
  { prepared: { schema, fragments, operation } }: OperationRequest,
  variableValues: Record<string, unknown>,
): ReadonlyMap<string, readonly FieldNode[]> {
  const type = schema.getMutationType();
  if (!type) throw new Error('the schema has mutations');
  return collectFields(schema, fragments, variableValues, type, operation.selectionSet);
}

const TO_SAVEPOINT = /^\s*rollback to savepoint /;

/**
 * Serializes the statements of a transaction: graphql-js resolves the fields of an answer concurrently, but a
 * connection takes one statement at a time. After a failure Postgres accepts nothing but a rollback to a
 * savepoint; until then, every caller gets that failure.
 */
function oneByOne(transaction: Transaction): Transaction {
  let last: Promise<unknown> = Promise.resolve();
  let failure: { readonly reason: unknown } | undefined;
  return {
    ...transaction,
    query: (sql, options) => {
      const result = last.then(async () => {
        const isWayBack = TO_SAVEPOINT.test(sql.text);
        if (failure && !isWayBack) throw failure.reason;
        try {
          const rows = await transaction.query<never>(sql, options);
          if (isWayBack) failure = undefined;
          return rows;
        } catch (reason) {
          failure = { reason };
          throw reason;
        }
      });
      last = result.catch(() => {});
      return result;
    },
  };
}
