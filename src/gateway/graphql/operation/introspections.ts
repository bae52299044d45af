/**
 * Runs introspection on the part of the schema that the caller may know. Its answer depends only on that part
 * and the document, so it is kept as text.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type DocumentNode, type GraphQLSchema, Kind, print, visit } from 'graphql';
import { callerName } from '../../../base/model/scope.js';
import { toSplicedData } from '../../../base/scalars/json-text.js';
import { FairQueue } from '../../../store/database/fair-queue.js';
import { requireScope } from '../../resolvers/request-context.js';
import { isIntrospectionField } from '../limits/introspection-cost.js';
import type { OperationRequest, Outcome, PreparedOperation } from './prepared-operation.js';

/**
 * An answer that is not known is computed in one turn of the event loop. Its user then waits several times as
 * long for the next one, so that ever other documents take a small share of the time.
 */
const REST_FACTOR = 4;

export class Introspections {
  readonly #line = new FairQueue({
    perCaller: 1,
    waitingPerCaller: 50,
    waitMs: 10_000,
    refusal: 'Too many introspections of this user are waiting',
  });

  /**
   * Returns the known answer, or executes the operation when it is the turn of its user.
   *
   * @throws UNAVAILABLE (503) if too many introspections of the user wait
   */
  async answer(request: OperationRequest, execute: Execute): Promise<Outcome> {
    const { served } = request.prepared;
    const shown = served.shownTo(request.context);
    const texts = served.introspections;
    const key = keyOf(request.prepared, shown.key);
    const find = () => (key === undefined ? undefined : texts.get(key));
    const known = find();
    if (known !== undefined) return toOutcome(known);
    const scope = requireScope(request.context);
    return await new Promise((resolve, reject) => {
      const work = async () => {
        const meanwhile = find();
        if (meanwhile !== undefined) return resolve(toOutcome(meanwhile));
        const startedAt = performance.now();
        const outcome = await executeShown(request, shown.schema, execute);
        if (key === undefined || outcome.errors.length > 0) resolve(outcome);
        else {
          const text = JSON.stringify(outcome.data);
          texts.set(key, text);
          resolve(toOutcome(text));
        }
        await sleep(REST_FACTOR * (performance.now() - startedAt), undefined, { ref: false });
      };
      this.#line.run(callerName(scope.principal), work, { onWait: scope.call.onWait }).catch(reject);
    });
  }
}

function toOutcome(text: string): Outcome {
  return { data: toSplicedData(text), errors: [] };
}

/** `undefined` if the answer depends on variables or records. */
function keyOf(prepared: PreparedOperation, shown: string): string | undefined {
  const { document, operation } = prepared;
  if (operation.variableDefinitions?.length || !isPure(prepared)) return undefined;
  return `${shown} ${operation.name?.value ?? ''} ${print(document)}`;
}

function isPure({ rootFieldNames }: PreparedOperation): boolean {
  return rootFieldNames.every(isOfSchema);
}

function isOfSchema(name: string): boolean {
  return name === '__typename' || isIntrospectionField(name);
}

/** Executes the document of the operation, or another one on another schema. */
type Execute = (
  request: OperationRequest,
  on?: { readonly schema: GraphQLSchema; readonly document: DocumentNode },
) => Promise<Outcome>;

/** Root fields next to introspection are executed on the whole schema. */
async function executeShown(
  request: OperationRequest,
  schema: GraphQLSchema,
  execute: Execute,
): Promise<Outcome> {
  const { prepared } = request;
  const whole = isPure(prepared) ? undefined : await execute(request);
  const shown = await execute(request, { schema, document: introspectionOf(prepared.document, schema) });
  if (!whole) return shown;
  return { data: whole.data && { ...whole.data, ...shown.data }, errors: whole.errors };
}

/** The document without other root fields, and without variables of types that the schema does not have. */
function introspectionOf(document: DocumentNode, schema: GraphQLSchema): DocumentNode {
  return visit(document, {
    VariableDefinition({ type }) {
      let named = type;
      while (named.kind !== Kind.NAMED_TYPE) named = named.type;
      return schema.getType(named.name.value) ? false : null;
    },
    // A fragment of introspection is left as it is.
    FragmentDefinition({ typeCondition }) {
      return typeCondition.name.value.startsWith('__') ? false : undefined;
    },
    Field({ name }) {
      return isOfSchema(name.value) ? false : null;
    },
  });
}
