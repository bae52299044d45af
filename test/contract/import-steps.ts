/** The steps of an import over HTTP, each as far as it goes by itself. */
import { eventually } from '../eventually.js';
import type { Gateway, Role } from './gateway.js';

export interface ImportAnswer {
  readonly id: string;
  readonly state: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly inspection: { readonly warnings: readonly string[] };
  readonly mapping: {
    readonly columns: readonly { readonly column: string; readonly field: string | null }[];
  };
  readonly by: string;
  readonly fileId: string;
  readonly changeIds: readonly string[];
  readonly trial: {
    readonly counts: Readonly<Record<string, number>>;
    readonly preview: readonly unknown[];
  } | null;
  readonly fault: { readonly code: string; readonly detail: string } | null;
}

/** The states in which an import waits for its caller, or is over. */
const RESTING = ['ready', 'tried', 'done', 'undone', 'failed', 'cancelled'];

/** What tests ask of imports; every answer that is not what was asked for throws, but those of `refusal`. */
export function importSteps(gateway: Pick<Gateway, 'fetch'>) {
  async function ask(
    method: string,
    path: string,
    body?: string | object,
    as: Role = 'admin',
  ): Promise<ImportAnswer> {
    const response = await gateway.fetch(path, {
      method,
      as,
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(typeof body === 'object' && { headers: { 'content-type': 'application/json' } }),
    });
    const answer = (await response.json()) as ImportAnswer;
    if (!response.ok) throw new Error(JSON.stringify(answer));
    return answer;
  }

  async function rested(id: string, as: Role = 'admin'): Promise<ImportAnswer> {
    let one = await ask('GET', `/imports/${id}`, undefined, as);
    await eventually(async () => {
      one = await ask('GET', `/imports/${id}`, undefined, as);
      return RESTING.includes(one.state);
    });
    return one;
  }

  async function take(collection: string, csv: string, parameters = ''): Promise<ImportAnswer> {
    const { id } = await ask('POST', `/imports?collection=${collection}&name=file.csv${parameters}`, csv);
    return await rested(id);
  }

  async function run(id: string, parameters = ''): Promise<ImportAnswer> {
    await ask('POST', `/imports/${id}/run?${parameters}`);
    return await rested(id);
  }

  async function records(collection: string, oquery = ''): Promise<readonly Record<string, unknown>[]> {
    const response = await gateway.fetch(
      `/o/recs/${collection}?limit=1000&sort=_id${oquery && `&oquery=${oquery}`}`,
      {
        as: 'admin',
      },
    );
    return (await response.json()) as Record<string, unknown>[];
  }

  async function refusal(
    method: string,
    path: string,
    as?: Role,
    body?: string,
  ): Promise<{ status: number }> {
    const response = await gateway.fetch(path, { method, as, ...(body !== undefined && { body }) });
    await response.body?.cancel();
    return { status: response.status };
  }

  return { ask, rested, take, run, records, refusal };
}

export const STUDENT_COLUMNS = 'sequence,name,class,section,gender,dob,session,admitted_on';
/** A row of `studentSheet`. */
export const studentRow = (
  sequence: string,
  others: Partial<Record<'name' | 'class' | 'gender' | 'dob' | 'id', string>> = {},
) =>
  [sequence, others.name ?? `Student ${sequence}`, others.class ?? '5', 'A', others.gender ?? 'female']
    .concat([others.dob ?? '2015-06-01', '2026-27', '2026-04-01'])
    .join(',');
/** A CSV file of students. */
export const studentSheet = (...rows: readonly string[]) => `${[STUDENT_COLUMNS, ...rows].join('\n')}\n`;
