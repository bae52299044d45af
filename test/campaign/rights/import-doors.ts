/** The doors of imports: a file is taken for a collection, tried and run, as records are written by it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, Probe, Voice, WriteDoor } from './doors.js';

interface Taken {
  readonly id: string;
  readonly state: string;
  readonly counts: Readonly<Record<'created' | 'updated' | 'same' | 'refused', number>>;
  readonly trial: { readonly counts: Taken['counts'] } | null;
  readonly fault: { readonly code: string } | null;
}

/** Each takes jobs of two kinds, and so longer than other doors. */
export const IMPORT_DOORS: readonly WriteDoor[] = [
  {
    name: 'an import of a new record',
    verbs: ['read', 'create', 'update'],
    open: (v, { name }) => importDocument(v, name, { matrix: 'new' }, 'run?mode=rows'),
  },
  {
    name: 'an import of a change',
    verbs: ['read', 'create', 'update'],
    open: (v, { name }, { id }) =>
      importDocument(v, name, { _id: id, matrix: 'changed' }, 'run?mode=rows&by=_id'),
  },
  {
    name: 'a dry run that removes the rest',
    verbs: ['read', 'create', 'update', 'delete'],
    open: (v, { name }, { id }) =>
      importDocument(v, name, { _id: id, matrix: 'changed' }, 'dry-run?missing=remove&by=_id'),
  },
];

export const IMPORT_PROBES: readonly Probe[] = [
  {
    name: 'import of the field',
    // One that may be written and not be read is another in any case.
    must: 'nothing',
    open: async (v, { name }, field, value) => {
      const answer = await importDocument(v, name, { _id: `${name}-near`, [field]: value }, 'dry-run?by=_id');
      if (/"same":[1-9]/.test(answer.text))
        throw new Error(`${field} is told to be the same: ${answer.text}`);
      return answer;
    },
  },
  {
    name: 'import by the field',
    must: 'unanswered',
    open: (v, { name }, field, value) => importDocument(v, name, { [field]: value }, `dry-run?by=${field}`),
  },
  {
    name: 'import found by the field',
    must: 'unanswered',
    of: ['pltf_user', 'registration'],
    open: (v, { name }, field, value) => {
      const [source, reference] = name === 'pltf_user' ? ['task', 'manager'] : ['attendance', 'student'];
      const mapping = { columns: [{ column: 'x', field: `${reference}.${field}` }], fixed: {} };
      return importDocument(v, source, { x: value }, 'dry-run', mapping);
    },
  },
];

const RESTING = ['ready', 'tried', 'done', 'failed', 'cancelled'];
const STATUSES: Readonly<Record<string, number>> = { FORBIDDEN: 403, NOT_FOUND: 404, GONE: 410 };

/** The text is all that is told of it on the way. */
export async function importDocument(
  voice: Voice,
  collection: string,
  document: object,
  step: string,
  mapping?: object,
): Promise<Answer> {
  const told: string[] = [];
  const ask = async (method: string, path: string, body?: unknown, headers = {}) => {
    const answer = await voice.rest(method, path, body, headers);
    told.push(answer.text);
    return answer;
  };
  const lines = { 'content-type': 'application/x-ndjson' };
  const taken = await ask(
    'POST',
    `/imports?collection=${collection}&format=ndjson`,
    `${JSON.stringify(document)}\n`,
    lines,
  );
  if (taken.status !== 202) return taken;
  const { id } = JSON.parse(taken.text) as Taken;
  await rested(voice, id);
  if (mapping !== undefined) {
    const mapped = await ask('PUT', `/imports/${id}/mapping`, mapping);
    if (mapped.status !== 200) return { ...mapped, text: told.join('\n') };
  }
  const begun = await ask('POST', `/imports/${id}/${step}`);
  if (begun.status !== 202) return { ...begun, text: told.join('\n') };
  const ended = await rested(voice, id);
  told.push(JSON.stringify(ended), (await ask('GET', `/imports/${id}/errors.csv`)).text);
  return { status: statusOf(ended), text: told.join('\n') };
}

async function rested(voice: Voice, id: string): Promise<Taken> {
  for (;;) {
    const { text } = await voice.rest('GET', `/imports/${id}`);
    const one = JSON.parse(text) as Taken;
    if (RESTING.includes(one.state)) return one;
    await sleep(5);
  }
}

/** A row that is refused is one that is out of reach, or wrong. */
function statusOf({ fault, counts, trial }: Taken): number {
  if (fault !== null) return STATUSES[fault.code] ?? 400;
  const { created, updated, same } = trial?.counts ?? counts;
  return created + updated + same > 0 ? 200 : 400;
}
