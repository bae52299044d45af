/**
 * `Prefer: count=exact`: how many records match, whatever the page, in `X-Total-Count`. Nobody who does not
 * ask pays for counting.
 */
import { isPreferred } from '../../base/http/is-preferred.js';
import type { RecordSet } from '../../store/reading/record-set.js';
import type { Answer } from './answer.js';
import { type Parameter, PREFER, type RestRequest } from './route.js';

const PREFERENCE = 'count=exact';

export const PREFER_COUNT: Parameter = {
  ...PREFER,
  description: `${PREFER.description}. ${PREFERENCE}: X-Total-Count says how many records match in all`,
};

export async function withTotalCount(
  answer: Answer,
  records: RecordSet,
  { headers }: Pick<RestRequest, 'headers'>,
): Promise<Answer> {
  if (!isPreferred(headers.prefer, PREFERENCE)) return answer;
  const total = String(await records.count());
  return {
    ...answer,
    headers: { ...answer.headers, 'x-total-count': total, 'preference-applied': PREFERENCE },
  };
}
