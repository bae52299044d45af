/**
 * Runs introspection on the part of the schema that the caller may know. Its answer depends only on that part
 * and the document, so it is kept as text.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type DocumentNode, type FieldNode, type GraphQLSchema, print } from 'graphql';
import { callerName } from '../../../base/model/scope.js';
import { JsonText } from '../../../base/scalars/json-text.js';
import { FairQueue } from '../../../store/database/fair-queue.js';
import { requireScope } from '../../resolvers/request-context.js';
import type { OperationRequest, Outcome } from './prepared-operation.js';

/**
 * An answer that is not known is computed in one turn of the event loop. Its user then waits several times as
 * long for the next one, so that ever other documents take a small share of the time.
 */
const REST_FACTOR = 4;

/** Executes the document of the operation, or another one on another schema. */
export type Execute = (
  request: OperationRequest,
  on?: { readonly schema: GraphQLSchema; readonly document: DocumentNode },
) => Promise<Outcome>;

export class Introspections {
  readonly #line = new FairQueue({
    perCaller: 1,
    waitingPerCaller: 50,
    waitMs: 10_000,
    refusal: 'Too many introspections of this user are waiting',
  });

  /**
   * Returns the known answer to these root fields, or executes them when it is the turn of the user.
   *
   * @throws UNAVAILABLE (503) if too many introspections of the user wait
   */
  async answer(request: OperationRequest, nodes: readonly FieldNode[], execute: Execute): Promise<Outcome> {
    const { served, operation } = request.prepared;
    const shown = served.shownTo(request.context);
    // The answer may depend on variables.
    const isKept = (operation.variableDefinitions ?? []).length === 0;
    const key = isKept ? `${shown.key} ${print(request.prepared.part(nodes).document)}` : '';
    const find = (): Outcome | undefined => {
      const data = isKept ? served.introspections.get(key) : undefined;
      return data && { data, errors: [] };
    };
    const known = find();
    if (known !== undefined) return known;
    const scope = requireScope(request.context);
    return await new Promise((resolve, reject) => {
      const work = async () => {
        const meanwhile = find();
        if (meanwhile !== undefined) return resolve(meanwhile);
        const startedAt = performance.now();
        const { data, errors } = await execute(request, request.prepared.part(nodes, shown.schema));
        if (!isKept || errors.length > 0) resolve({ data, errors });
        else {
          const texts = Object.entries(data ?? {}).map(([name, value]) => [
            name,
            new JsonText(JSON.stringify(value)),
          ]);
          served.introspections.set(key, Object.fromEntries(texts));
          resolve({ data: Object.fromEntries(texts), errors });
        }
        await sleep(REST_FACTOR * (performance.now() - startedAt), undefined, { ref: false });
      };
      this.#line.run(callerName(scope.principal), work, { onWait: scope.call.onWait }).catch(reject);
    });
  }
}
