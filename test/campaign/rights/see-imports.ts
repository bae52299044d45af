/**
 * Who sees an import, by any door to it: of the same domain admins, and whoever asked for it, as long as
 * they may read records of its collection.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type Subscription } from '../../contract/live.js';
import type { Voice } from './doors.js';
import { isAdministrator, unless, voiceOf } from './matrix.js';
import { type Caller, COLLECTIONS, promiseOf } from './promise.js';
import type { DomainName, School } from './school.js';

interface MarkedImport {
  readonly id: string;
  readonly domain: DomainName;
  readonly collection: string;
  readonly sender: string;
  /** Stands in its name, in what was found in its file, and in a row that was refused. */
  readonly mark: string;
}

/** What each door is asked about one import that the caller is not to know of. */
const DOORS: readonly ((voice: Voice, id: string) => ReturnType<Voice['rest']>)[] = [
  (v, id) => v.rest('GET', `/imports/${id}`),
  (v, id) => v.rest('GET', `/imports/${id}/errors`),
  (v, id) => v.rest('GET', `/imports/${id}/errors.csv`),
  (v, id) => v.rest('GET', `/imports/${id}/outcomes.csv`),
  (v, id) => v.rest('POST', `/imports/${id}/dry-run`),
  (v, id) => v.rest('POST', `/imports/${id}/run`),
  (v, id) => v.rest('POST', `/imports/${id}/cancel`),
  (v, id) => v.rest('GET', `/imports/${id}/undo`),
  (v, id) => v.rest('POST', `/imports/${id}/undo`),
  (v, id) => v.rest('PUT', `/imports/${id}/mapping`, { columns: [] }),
  (v, id) => v.graphql('query($id: ID!) { import(id: $id) { name } }', { id }),
  (v, id) => v.graphql('query($id: ID!) { importErrors(id: $id) { source } }', { id }),
  (v, id) => v.graphql('mutation($id: ID!) { changeImport(id: $id, mapping: {columns: []}) { id } }', { id }),
];

/** @param doorsAreOneOf of the doors of each import that is hidden; the next import or caller has others */
export async function tryToSeeImports(
  school: School,
  caller: Caller,
  doorsAreOneOf = 1,
): Promise<string | undefined> {
  await school.gateway.sql.query('delete from imports');
  const marked = await insertImports(school);
  try {
    const voice = voiceOf(school, caller);
    const seen = marked.filter((one) => isSeen(caller, one));
    const unseen = marked.filter((one) => !isSeen(caller, one));
    for (const answer of [
      await voice.rest('GET', '/imports?limit=50'),
      await voice.graphql('{ imports(first: 50) { nodes { id name inspection } } }'),
    ]) {
      const fault =
        caller.roles.length === 0 ? unless(answer, [401]) : faultOf(answer.text, { seen, unseen });
      if (fault !== undefined) return fault;
    }
    const callerIndex = school.callers.indexOf(caller);
    for (const [index, { id }] of unseen.entries()) {
      const doors = DOORS.filter((_door, place) => (place + index + 5 * callerIndex) % doorsAreOneOf === 0);
      const answers = await Promise.all(doors.map((door) => door(voice, id)));
      for (const answer of answers) {
        const fault = unless(answer, [caller.roles.length === 0 ? 401 : 404]);
        if (fault !== undefined) return fault;
      }
    }
    for (const { id, mark } of seen) {
      const answer = await voice.rest('GET', `/imports/${id}/errors.csv`);
      if (!answer.text.includes(mark)) return `its own rows are kept from it: ${answer.text}`;
    }
    return caller.roles.length === 0 ? undefined : await tryToFollow(school, caller, { seen, unseen });
  } finally {
    await school.gateway.sql.query('delete from imports');
  }
}

interface Marked {
  readonly seen: readonly MarkedImport[];
  readonly unseen: readonly MarkedImport[];
}

/** Each import by its id, and all of them at once. */
async function tryToFollow(school: School, caller: Caller, marked: Marked): Promise<string | undefined> {
  const { authorization, 'x-domain': domain } = caller.headers;
  const subscriber = connect(school.gateway, {
    params: { Authorization: authorization, ...(domain !== undefined && { 'X-Domain': domain }) },
  });
  try {
    const refused = marked.unseen.map(({ id }) =>
      subscriber.attempt('subscription($id: ID) { importChanged(id: $id) { name } }', { id }),
    );
    const all = await subscriber.subscribe('subscription { importChanged { name } }');
    await settle(() => refused.every(({ isDone }) => isDone));
    const wrong = refused.find((one) => statusOf(one) !== 404);
    if (wrong !== undefined) return `it follows one that is none of its own: ${JSON.stringify(wrong.errors)}`;
    await school.gateway.sql.query(
      `select pg_notify(campus_channel('campus_imports'), id::text) from imports order by id`,
    );
    await settle(() => all.events.length >= marked.seen.length);
    // Long enough for what it is not to be told of.
    await sleep(50);
    return faultOf(JSON.stringify(all.events), marked);
  } finally {
    subscriber.dispose();
  }
}

function statusOf({ isDone, errors }: Subscription): number | undefined {
  return isDone ? errors[0]?.extensions.status : undefined;
}

async function settle(isSo: () => boolean): Promise<void> {
  for (const end = Date.now() + 5000; !isSo() && Date.now() < end; ) await sleep(10);
}

function isSeen(caller: Caller, { domain, collection, sender }: MarkedImport): boolean {
  const declared = COLLECTIONS.find(({ name }) => name === collection);
  if (declared === undefined) throw new Error(`nothing declares ${collection}`);
  if (typeof promiseOf(caller, declared, 'read') === 'number') return false;
  return domain === caller.domain && (isAdministrator(caller) || sender === caller.userId);
}

function faultOf(text: string, { seen, unseen }: Marked): string | undefined {
  const missed = seen.find(({ mark }) => !text.includes(mark));
  if (missed !== undefined) return `${missed.mark} is not there: ${text.slice(0, 500)}`;
  const told = unseen.find(({ mark }) => text.includes(mark));
  return told && `${told.mark} is there: ${text.slice(0, 500)}`;
}

async function insertImports({ gateway }: School): Promise<readonly MarkedImport[]> {
  const made: MarkedImport[] = [];
  for (const domain of ['top', 'branch'] as const) {
    for (const sender of ['usr-clerk', 'usr-somebody']) {
      for (const collection of ['task', 'fee_receipt']) {
        const mark = `mk.${domain}.import.${collection}.${sender}`;
        made.push({ id: randomUUID(), domain, collection, sender, mark });
      }
    }
  }
  for (const { id, domain, collection, sender, mark } of made) {
    await gateway.sql.query(
      `insert into imports (id, domain, collection, state, name, file_id, owns_file, source, options,
         principal, created_by, started_at, inspection)
       values ($1, $2, $3, 'failed', $4, $1, false, '{}',
         '{"mode": "rows", "by": "", "missing": "keep", "triggers": []}', '{}', $5, now(),
         '{"format": "csv", "columns": ["name"]}'::jsonb || jsonb_build_object('warnings', array[$6::text]))`,
      [id, domain, collection, mark, sender, mark],
    );
    await gateway.sql.query(
      `insert into import_errors (import_id, step, row_number, errors, source)
       values ($1, 'run', 1, '[{"detail": "wrong"}]', jsonb_build_array($2::text))`,
      [id, mark],
    );
  }
  return made;
}
