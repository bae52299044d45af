/**
 * One attempt of the matrix: a door is opened by a caller, and what comes of it is held against the
 * declarations.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { reports } from '../../../src/school/reports/registry.js';
import { connect, type Subscriber } from '../../contract/live.js';
import {
  type Answer,
  type Probe,
  type ReadDoor,
  UNDONE_REQUEST,
  type Voice,
  type WriteDoor,
} from './doors.js';
import { type Caller, COLLECTIONS, type Declared, promiseOf, referenceToUser } from './promise.js';
import { type DomainName, type MarkedRecord, markedRecord, type School } from './school.js';

interface Sent {
  readonly method: Parameters<Voice['rest']>[0];
  readonly path: string;
  readonly body: Parameters<Voice['rest']>[2];
  readonly headers: Parameters<Voice['rest']>[3];
}

export function voiceOf({ gateway }: School, caller: Caller): Voice {
  const request = async (
    { method, path, body, headers = {} }: Sent,
    tries = 20,
  ): Promise<Awaited<ReturnType<Voice['rest']>>> => {
    const response = await gateway.fetch(path, {
      method,
      headers: {
        ...caller.headers,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const answer = { status: response.status, text: await response.text() };
    // A gateway that has too much to do did nothing; that says nothing of rights.
    if (answer.status !== 503 || tries === 0) return answer;
    await sleep(500);
    return await request({ method, path, body, headers }, tries - 1);
  };
  const rest: Voice['rest'] = (method, path, body, headers) => request({ method, path, body, headers });
  const graphql: Voice['graphql'] = async (query, variables = {}) => {
    const answer = await rest('POST', '/graphql', { query, variables });
    const { errors } = JSON.parse(answer.text) as { errors?: { extensions: { status: number } }[] };
    return { status: errors?.[0]?.extensions.status ?? answer.status, text: answer.text };
  };
  const agent: Voice['agent'] = async (tool, sent) => {
    const params = { name: tool, arguments: sent };
    const answer = await rest('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    if (answer.status !== 200) return answer;
    const { result } = JSON.parse(answer.text) as { result: { content: { text: string }[] } };
    const text = result.content.map((content) => content.text).join('\n');
    return { status: Number(/"status":(\d+)/.exec(text)?.[1] ?? 200), text };
  };
  const script: Voice['script'] = async (call, args) => {
    const answer = await graphql(
      'mutation($a: JSON) { runScript(name: "matrix", arguments: $a) { value } }',
      {
        a: { call, args },
      },
    );
    const failed = /"failed":(\d+)/.exec(answer.text)?.[1];
    return failed === undefined ? answer : { status: Number(failed), text: answer.text };
  };
  return { gateway, caller, rest, graphql, agent, script };
}

interface Attempt {
  readonly school: School;
  readonly caller: Caller;
  readonly collection: Declared;
}

/** What is wrong with the answer; `undefined`: nothing. */
export async function tryToRead(
  { school, caller, collection }: Attempt,
  door: ReadDoor,
  record: MarkedRecord,
): Promise<string | undefined> {
  const answer = await door.open(voiceOf(school, caller), collection, record);
  const told = leakIn(answer, { school, caller, collection });
  if (told !== undefined) return told;
  const promised = promiseOf(caller, collection, 'read');
  if (door.gives === 'one or null' && promised !== 401) {
    const isShown = typeof promised !== 'number' && promised.isInReach(withId(record));
    if (answer.status !== 200) return unless(answer, [200]);
    return answer.text.includes(record.id) === isShown ? undefined : `it is ${isShown ? 'not ' : ''}there`;
  }
  if (typeof promised === 'number') return unless(answer, [promised]);
  const records = recordsOf(school, caller, collection);
  if (door.through === 'users') return faultOfUsersRecords(answer, { school, caller, collection });
  if (door.gives === 'one') return unless(answer, promised.isInReach(withId(record)) ? [200] : [404]);
  if (answer.status !== 200) return unless(answer, [200]);
  if (door.gives === 'figure') {
    // The callers are records, too.
    if (collection.name === 'pltf_user') return undefined;
    const expected = records.filter((one) => promised.isInReach(withId(one))).length;
    const figure = Number(/:(\d+)[^:]*$/.exec(answer.text)?.[1] ?? 0);
    return figure === expected
      ? undefined
      : `${figure} are counted, and ${expected} are in reach: ${answer.text}`;
  }
  const wrong = records.find(
    ({ id, data }) => answer.text.includes(id) !== promised.isInReach(withId({ id, data })),
  );
  return wrong === undefined
    ? undefined
    : `${wrong.id} is ${answer.text.includes(wrong.id) ? '' : 'not '}there`;
}

/**
 * Of two records one points to a user. Who may not read users is refused, whether the door begins there or
 * asks about them.
 */
function faultOfUsersRecords(answer: Answer, { school, caller, collection }: Attempt): string | undefined {
  const users = COLLECTIONS.find(({ name }) => name === 'pltf_user');
  const promised = promiseOf(caller, collection, 'read');
  if (users === undefined || typeof promised === 'number') throw new Error('it is promised something');
  const isUserSeen = typeof promiseOf(caller, users, 'read') !== 'number';
  if (!isUserSeen) return unless(answer, [403]);
  if (answer.status !== 200) return unless(answer, [200]);
  const reference = referenceToUser(collection)?.name ?? '';
  const isFound = ({ data, id }: MarkedRecord) =>
    (data[reference] as { value: string }).value === 'usr-teacher' &&
    promised.isInReach(withId({ id, data }));
  const wrong = recordsOf(school, caller, collection).find(
    (record) => answer.text.includes(record.id) !== isFound(record),
  );
  return wrong && `${wrong.id} is ${answer.text.includes(wrong.id) ? '' : 'not '}found: ${answer.text}`;
}

/** The record is one of its own, and gone afterwards. */
export async function tryToWrite(
  attempt: Attempt,
  door: WriteDoor,
  place: 'near' | 'far',
): Promise<string | undefined> {
  const { school, caller, collection } = attempt;
  const { gateway } = school;
  const made = markedRecord(caller.domain, collection, place);
  const victim = { ...made, id: `${collection.name}-victim` };
  await gateway.sql.query(
    `insert into records (domain, collection, id, data) values ($1, $2, $3, $4::jsonb)`,
    [caller.domain, collection.name, victim.id, JSON.stringify(distinct(victim.data, collection))],
  );
  if (door.undoes !== undefined) await noteChange(school, attempt, victim.id, door.undoes);
  try {
    const before = await stateOf(school, collection);
    const answer = await door.open(voiceOf(school, caller), collection, victim);
    const told = leakIn(answer, attempt);
    if (told !== undefined) return told;
    const promises = door.verbs.map((verb) => promiseOf(caller, collection, verb));
    const isOthers = door.undoes === 'a change of another' && !isAdministrator(caller);
    // Of a change that is not the caller's to undo it is not told that there is one.
    const refusal =
      caller.roles.length > 0 && isOthers ? 404 : promises.find((promised) => typeof promised === 'number');
    const isNew = door.verbs.length === 1 && door.verbs[0] === 'create';
    const isInReach = promises.every(
      (promised) => typeof promised === 'number' || promised.isInReach(withId(victim)),
    );
    if (refusal !== undefined || (!isNew && !isInReach)) {
      const isUnchanged = (await stateOf(school, collection)) === before;
      if (!isUnchanged) return 'something was written';
      // What is out of reach is there for nobody; an upsert finds its id taken.
      return unless(answer, refusal === undefined ? [403, 404, 409, 400] : [refusal]);
    }
    if ([401, 403, 404].includes(answer.status) && !isNew) return unless(answer, [200]);
    return answer.status >= 500 ? unless(answer, [200]) : undefined;
  } finally {
    if (door.undoes !== undefined) await forgetChanges(school, victim.id);
    await gateway.sql.query(
      `delete from records where collection = $1 and (id = $2 or data ? 'matrix' and id not like ` +
        `'%-near' and id not like '%-far')`,
      [collection.name, victim.id],
    );
  }
}

/** The request by which the victim became what it is, by the caller or by another. */
async function noteChange(
  { gateway }: School,
  { caller, collection }: Attempt,
  id: string,
  undoes: NonNullable<WriteDoor['undoes']>,
): Promise<void> {
  const principal = undoes === 'a change of another' ? 'usr-somebody' : caller.userId;
  await gateway.sql.query(
    `update records set version = 2, data = data || '{"matrix": "changed"}'
     where domain = $1 and collection = $2 and id = $3`,
    [caller.domain, collection.name, id],
  );
  await gateway.sql.query(
    `insert into audit_entries
       (domain, collection, record_id, operation, from_version, to_version, principal, credential, request_id,
         before)
     values ($1, $2, $3, 'updated', 1, 2, $4, 'token:matrix', $5, '{"matrix": []}')`,
    [caller.domain, collection.name, id, principal, UNDONE_REQUEST],
  );
}

async function forgetChanges({ gateway }: School, id: string): Promise<void> {
  await gateway.sql.query('delete from audit_entries where record_id = $1', [id]);
}

/** What is everybody's of messages: an admin's are all of the school, of another those it sent. */
export async function tryToSeeMessages(school: School, caller: Caller): Promise<string | undefined> {
  const { gateway } = school;
  const senders = ['usr-clerk', 'usr-somebody'];
  const marks = (['top', 'branch'] as const).flatMap((domain) =>
    senders.map((sender) => ({ domain, sender, mark: `mk.${domain}.message.${sender}@example.org` })),
  );
  for (const { domain, sender, mark } of marks) {
    await gateway.sql.query(
      `insert into messages
         (id, domain, kind, state, recipients, remaining, content, size, created_by, request_id)
       values (gen_random_uuid(), $1, 'email', 'sent', array[$3], '{}', $4, 1, $2, 'matrix')`,
      [domain, sender, mark, JSON.stringify({ to: [mark], cc: [], bcc: [], subject: mark, text: mark })],
    );
  }
  try {
    const answer = await voiceOf(school, caller).graphql(
      '{ messages(first: 50) { totalCount nodes { recipients subject createdBy } } }',
    );
    if (caller.roles.length === 0) return unless(answer, [401]);
    if (caller.collections !== undefined) return unless(answer, [403]);
    if (answer.status !== 200) return unless(answer, [200]);
    const wrong = marks.find(({ domain, sender, mark }) => {
      const isOwn = caller.roles.includes('admin') || sender === caller.userId;
      return answer.text.includes(mark) !== (domain === caller.domain && isOwn);
    });
    return wrong && `${wrong.mark} is ${answer.text.includes(wrong.mark) ? '' : 'not '}there`;
  } finally {
    await gateway.sql.query(`delete from messages where request_id = 'matrix'`);
  }
}

/** Only who administers has the data of a person exported, or asks what erasing it would do. */
export async function tryToHavePersons(school: School, caller: Caller): Promise<string | undefined> {
  const voice = voiceOf(school, caller);
  const person = 'collection: "registration", id: "registration-far"';
  const refusal = caller.roles.length === 0 ? 401 : 403;
  for (const query of [
    `{ personErasure(${person}) { pseudonym entries { place ids } } }`,
    `mutation { exportPerson(${person}) { id } }`,
  ]) {
    const answer = await voice.graphql(query);
    const fault = unless(answer, [isAdministrator(caller) ? 200 : refusal]);
    if (fault !== undefined) return fault;
  }
  // The others need their records.
  if (isAdministrator(caller)) return undefined;
  const erased = await voice.graphql(`mutation { erasePerson(${person}) { pseudonym } }`);
  return unless(erased, [refusal]);
}

/** The settings are those of every administrator; the school has its branches from those of the main one. */
export async function tryToAdminister(school: School, caller: Caller): Promise<string | undefined> {
  const voice = voiceOf(school, caller);
  const refusal = caller.roles.length === 0 ? 401 : 403;
  for (const query of [
    '{ domainProperties { name value } }',
    'mutation { setDomainProperty(name: "passPercent", value: 35) { name } }',
    'mutation { removeDomainProperty(name: "passPercent") { name } }',
  ]) {
    const fault = unless(await voice.graphql(query), [isAdministrator(caller) ? 200 : refusal]);
    if (fault !== undefined) return `${query}: ${fault}`;
  }
  const isOfMainSchool = caller.domain === 'top' || caller.headers['x-domain'] !== undefined;
  // Who may make a branch is told that this one is there.
  const made = await voice.graphql('mutation { createBranch(data: {id: "branch", name: "Branch"}) { id } }');
  return unless(made, [isAdministrator(caller) && isOfMainSchool ? 409 : refusal]);
}

export async function tryToFindOut(
  { school, caller, collection }: Attempt,
  probe: Probe,
  field: string,
): Promise<string | undefined> {
  if (probe.of !== undefined && !probe.of.includes(collection.name)) return undefined;
  const value = recordsOf(school, caller, collection)[0]?.markers.get(field)?.[0] ?? true;
  const answer = await probe.open(voiceOf(school, caller), collection, field, value);
  const told = leakIn(answer, { school, caller, collection }, [String(value)]);
  if (told !== undefined) return told;
  switch (probe.must) {
    case 'refused':
      return unless(answer, [403]);
    case 'unanswered':
      return unless(answer, [403, 400]);
    case 'nothing':
      return undefined;
  }
}

/** By every path it has. */
export async function tryToReport(school: School, caller: Caller, report: (typeof reports)[number]) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(report.example)) {
    if (value !== undefined) query.set(report.parameters[name]?.restName ?? name, String(value));
  }
  for (const address of [`/?report=${report.name}&${query}`, `/reports/${report.name}?${query}`]) {
    const fault = await tryToReportAt(school, caller, { report, address });
    if (fault !== undefined) return `${address}: ${fault}`;
  }
  return undefined;
}

async function tryToReportAt(
  school: School,
  caller: Caller,
  { report, address }: { readonly report: (typeof reports)[number]; readonly address: string },
) {
  const answer = await voiceOf(school, caller).rest('GET', address);
  const isScoped =
    caller.reports === undefined || caller.reports.some((name) => name === '*' || name === report.name);
  const isOfOtherRole = caller.roles.some((role) => role === 'admin' || report.roles.includes(role));
  const isOfTeacher = caller.roles.includes('teacher') && report.teachers !== 'none';
  const isOfRole = isOfOtherRole || isOfTeacher;
  if (caller.roles.length === 0) return unless(answer, [401]);
  if (!isScoped || !isOfRole) return unless(answer, [403]);
  const other = caller.domain === 'top' ? 'mk.branch.' : 'mk.top.';
  if (answer.text.includes(other)) return 'it tells of another domain';
  // The teacher that the example names is another one: what is its own is not theirs.
  const isAnothers = !isOfOtherRole && report.teachers === 'taught' && caller.userId !== 'usr-teacher';
  if (isAnothers && answer.status === 403) return undefined;
  return [401, 403, 500].includes(answer.status) ? unless(answer, [200]) : undefined;
}

/** What openapi.json tells the caller of a collection is what it may read of it, and no more. */
export async function tryToKnow(school: School, caller: Caller): Promise<string | undefined> {
  if (caller.roles.length === 0) return undefined;
  const answer = await voiceOf(school, caller).rest('GET', '/openapi.json');
  if (answer.status !== 200) return unless(answer, [200]);
  const { paths, components } = JSON.parse(answer.text);
  for (const collection of COLLECTIONS) {
    const listed = paths[`/o/recs/${collection.name}`]?.get;
    const promised = promiseOf(caller, collection, 'read');
    if (typeof promised === 'number') {
      if (listed !== undefined) return `it tells of ${collection.name}`;
      continue;
    }
    const { $ref = '' } = listed?.responses[200].content['application/json'].schema.items ?? {};
    const shown = Object.keys(components.schemas[$ref.split('/').at(-1) ?? '']?.properties ?? {});
    const own = collection.fields.map(({ name }) => name).filter((name) => !promised.hiddenFields.has(name));
    const expected = [...new Set(['_id', 'created_on', ...own])].sort().join();
    if (shown.sort().join() !== expected) return `of ${collection.name} it tells ${shown.join()}`;
  }
  return undefined;
}

/** Each caller subscribes to all changes of a collection: what changes of its records tell them. */
export async function tryToListen(
  school: School,
  callers: readonly Caller[],
  collection: Declared,
): Promise<readonly (string | undefined)[]> {
  const subscribers: Subscriber[] = [];
  try {
    const listeners = callers.flatMap((caller) => {
      const { authorization } = caller.headers;
      if (authorization === undefined || caller.headers['x-domain'] !== undefined) return [];
      const subscriber = connect(school.gateway, { params: { Authorization: authorization } });
      subscribers.push(subscriber);
      const subscription = subscriber.attempt(
        'subscription($c: String!) { recordChanged(collection: $c) { id record { data } } }',
        { c: collection.name },
      );
      const promised = promiseOf(caller, collection, 'read');
      const inReach = (records: readonly MarkedRecord[]) =>
        typeof promised === 'number' ? [] : records.filter((record) => promised.isInReach(withId(record)));
      const expected = inReach(recordsOf(school, caller, collection)).length;
      return [{ caller, subscription, promised, expected }];
    });
    const refused = listeners.filter(({ promised }) => typeof promised === 'number');
    await until(() => refused.every(({ subscription }) => subscription.isDone), 5000);
    // The others have begun to listen by then, or were refused against the promise.
    await sleep(400);
    const listening = listeners.filter(({ subscription }) => !subscription.isDone);
    for (const domain of new Set(listening.map(({ caller }) => caller.domain))) {
      const admin = adminOf(school, domain);
      for (const { id } of recordsOf(school, admin, collection)) {
        const change = { matrix: String(Math.random()) };
        await voiceOf(school, admin).rest('PATCH', `/o/recs/${collection.name}/${id}`, change);
      }
    }
    const isToldAll = ({ subscription, expected }: (typeof listening)[number]) =>
      subscription.events.length >= expected;
    await until(() => listening.every(isToldAll), 5000);
    // Long enough for what nobody is to be told of.
    await sleep(400);
    return listeners.map(({ caller, subscription, promised, expected }) => {
      const fault = faultOfListener({ school, caller, collection }, subscription, promised, expected);
      return fault === undefined ? undefined : `${caller.name}, ${collection.name}: ${fault}`;
    });
  } finally {
    for (const subscriber of subscribers) subscriber.dispose();
  }
}

function faultOfListener(
  { school, caller, collection }: Attempt,
  subscription: ReturnType<Subscriber['attempt']>,
  promised: ReturnType<typeof promiseOf>,
  expected: number,
): string | undefined {
  if (promised === 401)
    return subscription.isDone && subscription.events.length === 0 ? undefined : 'it listens';
  if (promised === 403) {
    const status = subscription.errors[0]?.extensions.status;
    return status === 403 ? undefined : `${status} instead of 403`;
  }
  if (subscription.isDone) return `it was refused: ${JSON.stringify(subscription.errors)}`;
  const text = JSON.stringify(subscription.events);
  const told = leakIn({ status: 200, text }, { school, caller, collection });
  if (told !== undefined) return told;
  const isWritable = typeof promiseOf(adminOf(school, caller.domain), collection, 'update') !== 'number';
  return isWritable && subscription.events.length !== expected
    ? `${subscription.events.length} events instead of ${expected}`
    : undefined;
}

async function until(isSo: () => boolean, ms: number): Promise<void> {
  for (const end = Date.now() + ms; !isSo() && Date.now() < end; ) await sleep(20);
}

/** By a key nobody does. */
export function isAdministrator({ roles, collections }: Caller): boolean {
  return roles.includes('admin') && collections === undefined;
}

function adminOf(school: School, domain: DomainName): Caller {
  const admin = school.callers.find(
    (caller) =>
      caller.roles.includes('admin') && caller.domain === domain && caller.collections === undefined,
  );
  if (admin === undefined) throw new Error(`there is no admin of ${domain}`);
  return admin;
}

/** What of an answer is not the caller's to read, but for the texts that it sent itself. */
function leakIn(
  answer: Answer,
  { school, caller, collection }: Attempt,
  sent: readonly string[] = [],
): string | undefined {
  const { text } = answer;
  const other = caller.domain === 'top' ? 'mk.branch.' : 'mk.top.';
  if (text.includes(other)) return 'it tells of another domain';
  const promised = promiseOf(caller, collection, 'read');
  for (const record of recordsOf(school, caller, collection)) {
    for (const [field, markers] of record.markers) {
      const isHidden =
        typeof promised === 'number' ||
        promised.hiddenFields.has(field) ||
        !promised.isInReach(withId(record));
      const marker = isHidden ? markers.find((one) => text.includes(one) && !sent.includes(one)) : undefined;
      if (marker !== undefined) return `${marker} is in the answer: ${text.slice(0, 500)}`;
    }
  }
  return undefined;
}

export function unless({ status, text }: Answer, expected: readonly number[]): string | undefined {
  return expected.includes(status)
    ? undefined
    : `${status} instead of ${expected.join(' or ')}: ${text.slice(0, 500)}`;
}

export function recordsOf(school: School, caller: Caller, collection: Declared): readonly MarkedRecord[] {
  return school.records[caller.domain].get(collection.name) ?? [];
}

function withId({ id, data }: Pick<MarkedRecord, 'id' | 'data'>): Record<string, unknown> {
  return { ...data, _id: id };
}

/** Unique fields that are no markers would be taken. */
function distinct(data: Record<string, unknown>, collection: Declared): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [
      name,
      typeof value === 'string' && (value.startsWith('mk.') || isUnique(collection, name))
        ? `${value}.victim`
        : value,
    ]),
  );
}

function isUnique({ fields }: Declared, name: string): boolean {
  return fields.some((field) => field.name === name && Boolean(field.unique));
}

async function stateOf({ gateway }: School, { name }: Declared): Promise<string> {
  const { rows } = await gateway.sql.query(
    `select count(*)::text || ' ' || coalesce(sum(version), 0) || ' ' || count(deleted_at) as state ` +
      'from records where collection = $1',
    [name],
  );
  const files = await gateway.sql.query(`select count(*)::text as count from files where collection = $1`, [
    name,
  ]);
  return `${rows[0].state} ${files.rows[0].count}`;
}
