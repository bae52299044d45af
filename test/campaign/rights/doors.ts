/**
 * Every door to records. A new one is covered by being listed here: the matrix opens each for each caller and
 * collection, and knows from the declarations what must come of it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Gateway } from '../../contract/gateway.js';
import { connect } from '../../contract/live.js';
import {
  type Caller,
  COLLECTIONS,
  type Declared,
  graphqlNames,
  referenceToUser,
  type Verb,
} from './promise.js';
import type { MarkedRecord } from './school.js';

export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** How a caller speaks to the gateway. */
export interface Voice {
  readonly gateway: Gateway;
  readonly caller: Caller;
  rest(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>;
  /** The status is that of the first error, wherever it is. */
  graphql(query: string, variables?: object): Promise<Answer>;
  /** What a tool answers at `/mcp`. The status is that of the first error, wherever it is. */
  agent(tool: string, sent: object): Promise<Answer>;
  /** What a script of everybody's answers, run by the caller: `await platform.db.<call>`. */
  script(call: string, args: readonly unknown[]): Promise<Answer>;
}

export interface ReadDoor {
  readonly name: string;
  /**
   * `all`: the records in reach; `one`: the record asked for; `one or null`: the same, and null in place of a
   * refusal; `figure`: how many are in reach.
   */
  readonly gives: 'all' | 'one' | 'one or null' | 'figure';
  /** Collections for which the door is another one, or is not there. */
  readonly except?: readonly string[];
  /** The records are those that point to a user, and found by way of that. */
  readonly through?: 'users';
  open(voice: Voice, collection: Declared, record: MarkedRecord): Promise<Answer>;
}

export interface WriteDoor {
  readonly name: string;
  /** The record was changed by the request `UNDONE_REQUEST`. */
  readonly undoes?: 'a change of its own' | 'a change of another';
  readonly verbs: readonly Verb[];
  open(voice: Voice, collection: Declared, record: MarkedRecord): Promise<Answer>;
}

/** A try to find out a hidden field by something else than reading it. */
export interface Probe {
  readonly name: string;
  /** Asked about by way of records that point to theirs. Default: all collections, by their own. */
  readonly of?: readonly string[];
  /**
   * `refused`: 403 always. `unanswered`: 403, or 400 where the schema has no such question about a field of
   * this kind. `nothing`: it may be answered, without the field.
   */
  readonly must: 'refused' | 'unanswered' | 'nothing';
  open(voice: Voice, collection: Declared, field: string, value: unknown): Promise<Answer>;
}

/** Collections without a reference to a user. */
const WITHOUT_USERS = COLLECTIONS.filter((one) => referenceToUser(one) === undefined).map(({ name }) => name);

export const UNDONE_REQUEST = 'matrix-undone';

export const READ_DOORS: readonly ReadDoor[] = [
  { name: 'REST list', gives: 'all', open: (v, { name }) => v.rest('GET', `/o/recs/${name}?stream=true`) },
  {
    name: 'REST list by lines',
    gives: 'all',
    open: (v, { name }) =>
      v.rest('GET', `/o/recs/${name}?stream=true`, undefined, { accept: 'application/x-ndjson' }),
  },
  {
    name: 'REST list as CSV',
    gives: 'all',
    open: (v, { name }) => v.rest('GET', `/o/recs/${name}?format=csv`),
  },
  {
    name: 'REST changes',
    gives: 'all',
    open: (v, { name }) =>
      v.rest('GET', `/o/recs/${name}?since=${new Date(Date.now() - 86_400_000).toISOString()}`),
  },
  {
    name: 'REST list by POST',
    gives: 'all',
    // The report of the concessions of one student.
    except: ['fee_concession'],
    open: (v, { name }) => v.rest('POST', `/o/recs/${name}`, { stream: 'true' }),
  },
  {
    name: 'REST record',
    gives: 'one',
    open: (v, { name }, { id }) => v.rest('GET', `/o/recs/${name}/${id}`),
  },
  {
    name: 'REST history',
    gives: 'one',
    open: (v, { name }, { id }) => v.rest('GET', `/o/recs/${name}/${id}/history`),
  },
  {
    name: 'GraphQL history',
    gives: 'one',
    open: (v, { name }, { id }) =>
      v.graphql(
        'query($c: String!, $id: ID!) { recordHistory(collection: $c, id: $id) ' +
          '{ nodes { changes { path before after } } } }',
        { c: name, id },
      ),
  },
  {
    name: 'GraphQL record as it was',
    gives: 'one',
    open: (v, { name }, { id }) =>
      v.graphql(
        'query($c: String!, $id: ID!) { recordAt(collection: $c, id: $id, at: "2999-01-01") { id data } }',
        { c: name, id },
      ),
  },
  {
    name: 'GraphQL records',
    gives: 'all',
    open: (v, { name }) =>
      v.graphql('query($c: String!) { records(collection: $c) { nodes { id data } } }', { c: name }),
  },
  {
    name: 'GraphQL record',
    gives: 'one',
    open: (v, { name }, { id }) =>
      v.graphql('query($c: String!, $id: ID!) { record(collection: $c, id: $id) { id data } }', {
        c: name,
        id,
      }),
  },
  {
    name: 'typed list',
    gives: 'all',
    open: (v, collection) => v.graphql(`{ ${graphqlNames(collection).many} { nodes { id } } }`),
  },
  {
    name: 'typed record',
    gives: 'one',
    open: (v, collection, { id }) =>
      v.graphql(`query($id: ID!) { ${graphqlNames(collection).one}(id: $id) { id } }`, { id }),
  },
  {
    name: 'node',
    gives: 'one or null',
    open: (v, { name }, { id }) =>
      v.graphql('query($id: ID!) { node(id: $id) { nodeId ... on Record { data } } }', {
        id: `Record:${name}:${id}`,
      }),
  },
  {
    name: 'typed nodes',
    gives: 'one or null',
    open: (v, { name }, { id }) =>
      v.graphql('query($ids: [ID!]!) { nodes(ids: $ids) { nodeId } }', { ids: [`${name}:${id}`] }),
  },
  {
    name: 'entities of a supergraph',
    gives: 'one or null',
    open: (v, collection, { id }) => {
      const { one } = graphqlNames(collection);
      const typeName = `${one.charAt(0).toUpperCase()}${one.slice(1)}`;
      return v.graphql(
        `query($r: [_Any!]!) { _entities(representations: $r) { ... on ${typeName} { nodeId } } }`,
        { r: [{ __typename: typeName, id }] },
      );
    },
  },
  {
    name: 'typed aggregate',
    gives: 'figure',
    open: (v, collection) => v.graphql(`{ ${graphqlNames(collection).many}Aggregate { count } }`),
  },
  {
    name: 'count',
    gives: 'figure',
    open: (v, { name }) =>
      v.graphql('query($c: String!) { records(collection: $c) { totalCount } }', { c: name }),
  },
  {
    name: 'search of an agent',
    gives: 'all',
    open: (v, { name }) => v.agent('search-records', { collection: name }),
  },
  {
    name: 'platform.db.findStream',
    gives: 'all',
    open: (v, { name }) => v.script('findStream', [name, {}, {}]),
  },
  { name: 'platform.db.getCount', gives: 'figure', open: (v, { name }) => v.script('getCount', [name, {}]) },
  {
    name: 'platform.db.agg',
    gives: 'all',
    open: (v, { name }) => v.script('agg', [name, [{ $match: {} }]]),
  },
  {
    name: 'referrers',
    gives: 'all',
    through: 'users',
    except: WITHOUT_USERS,
    open: (v, collection) =>
      v.graphql(
        `{ pltfUser(id: "usr-teacher") { ${graphqlNames(collection).many}(first: 50) { nodes { id } } } }`,
      ),
  },
  {
    name: 'where by reference',
    gives: 'all',
    through: 'users',
    except: WITHOUT_USERS,
    open: (v, collection) => {
      const { name = '', target } = referenceToUser(collection) ?? {};
      const condition = { active: { exists: true } };
      const record = typeof target === 'string' ? condition : { pltf_user: condition };
      return v.graphql(
        'query($c: String!, $w: JSON) { records(collection: $c, where: $w) { nodes { id } } }',
        {
          c: collection.name,
          w: { [name]: { record } },
        },
      );
    },
  },
  {
    name: 'files of a record',
    gives: 'one',
    open: async (v, { name }, { id }) => {
      const answer = await v.graphql(
        'query($c: String!, $id: ID!) { files(collection: $c, recordId: $id) { totalCount } }',
        { c: name, id },
      );
      return answer.status === 200 ? { status: 200, text: id } : answer;
    },
  },
];

const NEW = { matrix: 'new' };
const CHANGE = { matrix: 'changed' };

export const WRITE_DOORS: readonly WriteDoor[] = [
  { name: 'REST create', verbs: ['create'], open: (v, { name }) => v.rest('POST', `/o/${name}`, NEW) },
  {
    name: 'GraphQL create',
    verbs: ['create'],
    open: (v, { name }) =>
      v.graphql('mutation($c: String!, $d: JSON!) { createRecord(collection: $c, data: $d) { id } }', {
        c: name,
        d: NEW,
      }),
  },
  {
    name: 'GraphQL create of many',
    verbs: ['create'],
    open: (v, { name }) =>
      v.graphql('mutation($c: String!, $d: [JSON!]!) { createRecords(collection: $c, data: $d) { id } }', {
        c: name,
        d: [NEW],
      }),
  },
  { name: 'platform.db.create', verbs: ['create'], open: (v, { name }) => v.script('create', [name, NEW]) },
  {
    name: 'REST merge-patch',
    verbs: ['update'],
    open: (v, { name }, { id }) => v.rest('PATCH', `/o/recs/${name}/${id}`, CHANGE),
  },
  {
    name: 'GraphQL update',
    verbs: ['update'],
    open: (v, { name }, { id }) =>
      v.graphql(
        'mutation($c: String!, $id: ID!, $d: JSON!) { updateRecord(collection: $c, id: $id, data: ' +
          '$d) { id } }',
        { c: name, id, d: CHANGE },
      ),
  },
  {
    name: 'GraphQL update in a transaction',
    verbs: ['update'],
    open: (v, { name }, { id }) =>
      v.graphql(
        'mutation($c: String!, $id: ID!, $d: JSON!) @transaction { updateRecord(collection: $c, id: ' +
          '$id, data: $d) { id } }',
        { c: name, id, d: CHANGE },
      ),
  },
  {
    name: 'GraphQL update of all that match',
    verbs: ['read', 'update'],
    open: (v, { name }, { id }) =>
      matched(
        v.graphql(
          'mutation($c: String!, $w: JSON!, $d: JSON!) { updateRecords(collection: $c, where: $w, ' +
            'set: $d) { matched } }',
          { c: name, w: { _id: { equals: id } }, d: CHANGE },
        ),
      ),
  },
  {
    name: 'platform.db.update',
    verbs: ['read', 'update'],
    open: (v, { name }, { id }) => matched(v.script('update', [name, { _id: id }, { $set: CHANGE }])),
  },
  {
    name: 'GraphQL upsert',
    verbs: ['read', 'create', 'update'],
    open: (v, { name }, { id }) =>
      v.graphql('mutation($c: String!, $d: [JSON!]!) { upsertRecords(collection: $c, data: $d) { count } }', {
        c: name,
        d: [{ _id: id, ...CHANGE }],
      }),
  },
  {
    name: 'REST restore',
    verbs: ['read', 'update'],
    open: (v, { name }, { id }) => v.rest('POST', `/o/recs/${name}/${id}/restore`, { version: 1 }),
  },
  {
    name: 'GraphQL restore',
    verbs: ['read', 'update'],
    open: (v, { name }, { id }) =>
      v.graphql(
        'mutation($c: String!, $id: ID!) { restoreRecord(collection: $c, id: $id, version: 1) { id } }',
        { c: name, id },
      ),
  },
  {
    name: 'undoing its own change',
    undoes: 'a change of its own',
    verbs: ['read', 'update'],
    open: (v) => v.graphql(`mutation { undoChange(requestId: "${UNDONE_REQUEST}") { changed } }`),
  },
  {
    name: 'undoing the change of another',
    undoes: 'a change of another',
    verbs: ['read', 'update'],
    open: (v) => v.graphql(`mutation { undoChange(requestId: "${UNDONE_REQUEST}") { changed } }`),
  },
  {
    name: 'a file',
    verbs: ['read', 'update'],
    open: (v, { name }, { id }) =>
      v.rest('POST', `/files?name=a&collection=${name}&recordId=${id}`, 'x', {
        'content-type': 'text/plain',
      }),
  },
  {
    name: 'a file that is sent piece by piece',
    verbs: ['read', 'update'],
    open: (v, { name }, { id }) => {
      const base64 = (text: string) => Buffer.from(text).toString('base64');
      return v.rest('POST', '/files', undefined, {
        'tus-resumable': '1.0.0',
        'upload-length': '1',
        'upload-metadata': `filename YQ==,collection ${base64(name)},recordId ${base64(id)}`,
      });
    },
  },
  {
    name: 'REST delete',
    verbs: ['delete'],
    open: (v, { name }, { id }) => v.rest('DELETE', `/o/recs/${name}/${id}`),
  },
  {
    name: 'GraphQL delete',
    verbs: ['delete'],
    open: (v, { name }, { id }) =>
      v.graphql('mutation($c: String!, $id: ID!) { deleteRecord(collection: $c, id: $id) { id } }', {
        c: name,
        id,
      }),
  },
  {
    name: 'GraphQL delete of all that match',
    verbs: ['read', 'delete'],
    open: (v, { name }, { id }) =>
      matched(
        v.graphql(
          'mutation($c: String!, $w: JSON!) { deleteRecords(collection: $c, where: $w) { matched: count } }',
          { c: name, w: { _id: { equals: id } } },
        ),
      ),
  },
];

export const PROBES: readonly Probe[] = [
  {
    name: 'oquery',
    must: 'refused',
    open: (v, { name }, field, value) =>
      v.rest('GET', `/o/recs/${name}?stream=true&oquery=${encodeURIComponent(`${field}=${String(value)}`)}`),
  },
  {
    name: 'sort',
    must: 'refused',
    open: (v, { name }, field) => v.rest('GET', `/o/recs/${name}?stream=true&sort=-${field}`),
  },
  {
    name: 'project',
    must: 'nothing',
    open: (v, { name }, field) => v.rest('GET', `/o/recs/${name}?stream=true&project=${field}`),
  },
  {
    name: 'where',
    must: 'refused',
    open: (v, { name }, field) =>
      v.graphql('query($c: String!, $w: JSON) { records(collection: $c, where: $w) { totalCount } }', {
        c: name,
        w: { not: { [field]: { exists: true } } },
      }),
  },
  {
    name: 'where of an agent',
    must: 'refused',
    open: (v, { name }, field) =>
      v.agent('search-records', { collection: name, where: { not: { [field]: { exists: true } } } }),
  },
  {
    name: 'orderBy',
    must: 'refused',
    open: (v, { name }, field) =>
      v.graphql(
        `query($c: String!) { records(collection: $c, orderBy: [{field: "${field}", direction: ` +
          'ASCENDING}]) { nodes { id } } }',
        { c: name },
      ),
  },
  {
    name: 'typed selection',
    must: 'nothing',
    open: (v, collection, field) =>
      v.graphql(`{ ${graphqlNames(collection).many} { nodes { id ${camelCase(field)} } } }`),
  },
  {
    name: 'typed where',
    must: 'unanswered',
    open: (v, collection, field) =>
      v.graphql(
        `{ ${graphqlNames(collection).many}(where: { ${camelCase(field)}: { exists: true } }) { ` +
          'totalCount } }',
      ),
  },
  {
    name: 'typed orderBy',
    must: 'unanswered',
    open: (v, collection, field) =>
      v.graphql(
        `{ ${graphqlNames(collection).many}(orderBy: [{ field: ${field.toUpperCase()} }]) { nodes { id } } }`,
      ),
  },
  {
    name: 'typed groupBy',
    must: 'unanswered',
    open: (v, collection, field) =>
      v.graphql(
        `{ ${graphqlNames(collection).many}Aggregate(groupBy: [${field.toUpperCase()}]) { count key ` +
          `{ ${camelCase(field)} } } }`,
      ),
  },
  {
    name: 'typed distinct',
    must: 'unanswered',
    open: (v, collection, field) =>
      v.graphql(
        `{ ${graphqlNames(collection).many}Distinct(field: ${field.toUpperCase()}) { value count } }`,
      ),
  },
  {
    name: 'typed oquery of an aggregate',
    must: 'refused',
    open: (v, collection, field) =>
      v.graphql(`query($o: String) { ${graphqlNames(collection).many}Aggregate(oquery: $o) { count } }`, {
        o: `${field}=*a`,
      }),
  },
  {
    name: 'where by reference',
    must: 'unanswered',
    of: ['pltf_user', 'registration'],
    open: (v, { name }, field) => {
      const [source, reference] = name === 'pltf_user' ? ['task', 'manager'] : ['attendance', 'student'];
      return v.graphql('query($c: String!, $w: JSON) { records(collection: $c, where: $w) { totalCount } }', {
        c: source,
        w: { [reference]: { record: { [field]: { exists: true } } } },
      });
    },
  },
  {
    name: 'typed where by reference',
    must: 'unanswered',
    of: ['pltf_user', 'registration'],
    open: (v, { name }, field) => {
      const source = name === 'pltf_user' ? 'tasks(where: {manager' : 'attendanceRecords(where: {student';
      return v.graphql(`{ ${source}: {record: {${camelCase(field)}: {exists: true}}}}) { totalCount } }`);
    },
  },
  {
    name: 'platform.db query',
    must: 'refused',
    open: (v, { name }, field, value) => v.script('getCount', [name, { [field]: value }]),
  },
  {
    name: 'platform.db.findDistinct',
    must: 'refused',
    open: (v, { name }, field) => v.script('findDistinct', [name, field, {}]),
  },
  {
    name: 'platform.db group',
    must: 'refused',
    open: (v, { name }, field) => v.script('agg', [name, [{ $group: { _id: `$${field}` } }]]),
  },
  {
    name: 'platform.db expression',
    must: 'refused',
    open: (v, { name }, field) => v.script('agg', [name, [{ $project: { x: { $toString: `$${field}` } } }]]),
  },
  {
    name: 'subscription',
    must: 'refused',
    open: async ({ gateway, caller }, { name }, field) => {
      const subscriber = connect(gateway, { params: { Authorization: caller.headers.authorization } });
      try {
        const subscription = subscriber.attempt(
          'subscription($c: String!, $w: JSON) { recordChanged(collection: $c, where: $w) { id } }',
          { c: name, w: { [field]: { exists: true } } },
        );
        for (let time = 0; time < 100 && !subscription.isDone; time += 1) await sleep(20);
        const { errors } = subscription;
        return { status: Number(errors[0]?.extensions.status ?? 200), text: JSON.stringify(errors) };
      } finally {
        subscriber.dispose();
      }
    },
  },
];

function camelCase(field: string): string {
  return field.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}

/** What matches nothing is not there for the caller. */
async function matched(asked: Promise<Answer>): Promise<Answer> {
  const answer = await asked;
  return answer.status === 200 && /"matched(Count)?":0\b/.test(answer.text)
    ? { ...answer, status: 404 }
    : answer;
}
