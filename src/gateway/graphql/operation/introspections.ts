/** Runs introspection. Its answer depends only on the schema and the document, so it is kept as text. */
import { setTimeout as sleep } from 'node:timers/promises';
import { print } from 'graphql';
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
  async answer(
    request: OperationRequest,
    execute: (request: OperationRequest) => Promise<Outcome>,
  ): Promise<Outcome> {
    const texts = request.prepared.served.introspections;
    const key = keyOf(request.prepared);
    const find = () => (key === undefined ? undefined : texts.get(key));
    const known = find();
    if (known !== undefined) return toOutcome(known);
    const scope = requireScope(request.context);
    return await new Promise((resolve, reject) => {
      const work = async () => {
        const meanwhile = find();
        if (meanwhile !== undefined) return resolve(toOutcome(meanwhile));
        const startedAt = performance.now();
        const outcome = await execute(request);
        if (key === undefined || outcome.errors.length > 0) resolve(outcome);
        else {
          const text = JSON.stringify(outcome.data);
          texts.set(key, text);
          resolve(toOutcome(text));
        }
        await sleep(REST_FACTOR * (performance.now() - startedAt), undefined, { ref: false });
      };
      this.#line.run(callerName(scope.principal), work, { onWait: scope.onWait }).catch(reject);
    });
  }
}

function toOutcome(text: string): Outcome {
  return { data: toSplicedData(text), errors: [] };
}

/** `undefined` if the answer depends on variables or records. */
function keyOf({ document, operation, rootFieldNames }: PreparedOperation): string | undefined {
  if (operation.variableDefinitions?.length) return undefined;
  const isPure = rootFieldNames.every((name) => name === '__typename' || isIntrospectionField(name));
  return isPure ? `${operation.name?.value ?? ''} ${print(document)}` : undefined;
}
