import { beforeAll, describe, expect, it } from '@jest/globals';
import { itAnswers, type Scenario, useGateway } from './gateway.js';

const gateway = useGateway({ BODY_LIMIT_BYTES: '2000' });

const JSON_BODY = { 'content-type': 'application/json' };
const PROBLEM = { 'content-type': 'application/problem+json; charset=utf-8' };

const unreadable: readonly Scenario[] = [
  {
    name: 'a filter that ends too early says where',
    path: '/o/recs/task?stream=true&oquery=name=a,amount',
    as: 'viewer',
    status: 400,
    expectBody: {
      type: 'urn:campus:error:MALFORMED_FILTER',
      errors: [expect.objectContaining({ position: expect.any(Number), expected: expect.any(String) })],
    },
  },
  {
    name: 'a month that is none',
    path: '/o/recs/task?oquery=amount===abc',
    as: 'viewer',
    status: 400,
  },
  {
    name: 'stream other than true',
    path: '/o/recs/task?stream=false',
    as: 'viewer',
    status: 400,
    expectBody: { errors: [{ parameter: 'stream', expected: 'true, the only value', sent: 'false' }] },
  },
  {
    name: 'an unknown parameter',
    path: '/o/recs/task?oqery=name=a',
    as: 'viewer',
    status: 400,
    expectBody: { detail: 'There is no parameter "oqery" here. Did you mean "oquery"?' },
  },
  { name: "another collection's parameter", path: '/o/recs/task?sequence=1', as: 'viewer', status: 400 },
  { name: 'a parameter twice', path: '/o/recs/task?limit=1&limit=2', as: 'viewer', status: 400 },
  { name: 'a limit of none', path: '/o/recs/task?limit=0', as: 'viewer', status: 400 },
  { name: 'a limit that is no number', path: '/o/recs/task?limit=ten', as: 'viewer', status: 400 },
  { name: 'a negative skip', path: '/o/recs/task?skip=-1', as: 'viewer', status: 400 },
  { name: 'ci other than true or false', path: '/o/recs/task?ci=yes', as: 'viewer', status: 400 },
  { name: 'a cursor that is none', path: '/o/recs/task?limit=2&after=nonsense', as: 'viewer', status: 400 },
  {
    name: 'project and projection that disagree',
    path: '/o/recs/task?project=a&projection=b',
    as: 'viewer',
    status: 400,
  },
  {
    name: 'a day that does not exist',
    path: '/o/recs/attendance?start=2026-02-30',
    as: 'viewer',
    status: 400,
    expectBody: { errors: [expect.objectContaining({ parameter: 'start', sent: '2026-02-30' })] },
  },
  {
    name: 'a term that does not exist',
    path: '/o/recs/result?term=midyear',
    as: 'admin',
    status: 400,
    expectBody: { errors: [expect.objectContaining({ expected: 'halfyear or finalyear' })] },
  },
  {
    name: 'a role that is left blank, which every role contains',
    path: '/o/recs/pltf_user?roles=',
    as: 'admin',
    status: 400,
    expectBody: { errors: [expect.objectContaining({ parameter: 'roles', sent: '' })] },
  },
  {
    name: 'a filter in Latin-1',
    path: '/o/recs/task?oquery=name=!*%E9',
    as: 'viewer',
    status: 400,
    expectBody: {
      detail: 'The query has "%E9", which is not UTF-8 in percent-encoding: é is %C3%A9.',
    },
  },
  {
    name: 'a filter with a % of its own',
    path: '/o/recs/task?oquery=name=*5%',
    as: 'viewer',
    status: 400,
    expectBody: { detail: 'The query has a % that is not percent-encoding; a % itself is %25.' },
  },
  {
    name: 'a filter in Latin-1 in a form',
    method: 'POST',
    path: '/o/recs/task',
    as: 'viewer',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'oquery=name%3D%E9',
    status: 400,
    expectBody: { detail: expect.stringContaining('The body has "%3D%E9"') },
  },
  {
    name: 'a filter that is null',
    method: 'POST',
    path: '/o/recs/task',
    as: 'viewer',
    headers: JSON_BODY,
    body: { oquery: null },
    status: 400,
    expectBody: { errors: [expect.objectContaining({ parameter: 'oquery' })] },
  },
  {
    name: 'a documented parameter that is null',
    method: 'POST',
    path: '/o/recs/teacher_attendance',
    as: 'admin',
    headers: JSON_BODY,
    body: { name: { value: null } },
    status: 400,
    expectBody: { errors: [expect.objectContaining({ parameter: 'name.value' })] },
  },
  { name: 'a session of another form', path: '/o/recs/result?session=2026', as: 'admin', status: 400 },
  {
    name: 'a body that is not JSON says where',
    method: 'POST',
    path: '/o/task',
    as: 'clerk',
    headers: JSON_BODY,
    body: '{"name": "a",}',
    status: 400,
    expectBody: { detail: expect.stringContaining('at position 13') },
  },
  {
    name: 'a body that is a text',
    method: 'POST',
    path: '/o/task',
    as: 'clerk',
    headers: JSON_BODY,
    body: '"name"',
    status: 400,
  },
  {
    name: 'a list with something that is no record',
    method: 'POST',
    path: '/o/task',
    as: 'clerk',
    body: [{ name: 'a' }, 3],
    status: 400,
    expectBody: { errors: [expect.objectContaining({ pointer: '/1' })] },
  },
  {
    name: 'no body',
    method: 'POST',
    path: '/o/task',
    as: 'clerk',
    headers: JSON_BODY,
    body: '',
    status: 400,
  },
  {
    name: 'a required field that is missing',
    method: 'POST',
    path: '/o/task',
    as: 'clerk',
    body: { amount: 1 },
    status: 400,
    expectBody: { errors: [expect.objectContaining({ pointer: '/name' })] },
  },
  {
    name: 'a field of another type',
    method: 'POST',
    path: '/o/task',
    as: 'clerk',
    body: { name: 'a', amount: '10' },
    status: 400,
    expectBody: {
      type: 'urn:campus:error:INVALID_VALUE',
      errors: [expect.objectContaining({ pointer: '/amount', sent: '10' })],
    },
  },
  {
    name: 'an _id of another form',
    method: 'POST',
    path: '/o/task',
    as: 'clerk',
    body: { _id: 'a b', name: 'a' },
    status: 400,
  },
  {
    name: 'no collection is named',
    method: 'POST',
    path: '/o/',
    as: 'clerk',
    body: { name: 'a' },
    status: 400,
    expectBody: {
      detail:
        'Name the collection in one of three ways: POST /o/<collection>, POST /o/?collection=<name>, ' +
        'or a _collection member of the body.',
    },
  },
  {
    name: 'path and body name different collections',
    method: 'POST',
    path: '/o/task',
    as: 'clerk',
    body: { _collection: 'class', name: 'a' },
    status: 400,
  },
  {
    name: 'path and query name different collections',
    method: 'POST',
    path: '/o/task?collection=class',
    as: 'clerk',
    body: { name: 'a' },
    status: 400,
  },
  {
    name: 'two records name different collections',
    method: 'POST',
    path: '/o/',
    as: 'clerk',
    body: [
      { _collection: 'task', name: 'a' },
      { _collection: 'class', name: 'a' },
    ],
    status: 400,
  },
  {
    name: 'a login without a password',
    method: 'POST',
    path: '/auth?user_name=viewer',
    status: 400,
    expectBody: { errors: [expect.objectContaining({ parameter: 'password' })] },
  },
  { name: 'a login without anything', method: 'POST', path: '/auth', status: 400 },
  { name: 'a login of two kinds', method: 'POST', path: '/auth?api_key=a&refresh_token=b', status: 400 },
  { name: 'a percent sign that encodes nothing', path: '/o/recs/%zz', as: 'viewer', status: 400 },
  { name: 'an unknown report', path: '/?report=nonsense', as: 'admin', status: 400 },
];

const notAuthenticated: readonly Scenario[] = [
  {
    name: 'no credential',
    path: '/o/recs/task',
    status: 401,
    expectHeaders: { 'www-authenticate': 'Bearer realm="campus"', ...PROBLEM },
  },
  {
    name: 'no credential, and what is asked for is not looked at',
    path: '/o/recs/nonsense?colour=red',
    status: 401,
  },
  {
    name: 'a token that is none',
    path: '/o/recs/task',
    headers: { authorization: 'Bearer nonsense' },
    status: 401,
    expectHeaders: { 'www-authenticate': 'Bearer realm="campus", error="invalid_token"' },
  },
  {
    name: 'a key that is none',
    path: '/o/recs/task',
    headers: { authorization: 'Bearer cg_nonsense' },
    status: 401,
  },
  {
    name: 'another scheme',
    path: '/o/recs/task',
    headers: { authorization: 'Basic dmlld2VyOng=' },
    status: 401,
  },
  {
    name: 'a wrong credential also where none is needed',
    path: '/',
    headers: { authorization: 'Bearer nonsense' },
    status: 401,
  },
  {
    name: 'a wrong password',
    method: 'POST',
    path: '/auth?user_name=viewer&password=wrong',
    status: 401,
    expectHeaders: { 'www-authenticate': /^Bearer/ },
    expectBody: { type: 'urn:campus:error:WRONG_LOGIN' },
  },
  {
    name: 'an unknown user',
    method: 'POST',
    path: '/auth?user_name=nobody&password=wrong',
    status: 401,
    expectBody: { type: 'urn:campus:error:WRONG_LOGIN' },
  },
  { name: 'an API key that is none', method: 'POST', path: '/auth?api_key=cg_nonsense', status: 401 },
  { name: 'a refresh token that is none', method: 'POST', path: '/auth?refresh_token=nonsense', status: 401 },
  { name: 'a write without a credential', method: 'POST', path: '/o/task', body: { name: 'a' }, status: 401 },
  { name: 'a logout without a credential', method: 'POST', path: '/auth/logout', status: 401 },
  { name: 'a report by name without a credential', path: '/?report=fee-summary', status: 401 },
];

const notAllowed: readonly Scenario[] = [
  {
    name: 'a viewer who writes',
    method: 'POST',
    path: '/o/task',
    as: 'viewer',
    body: { name: 'a' },
    status: 403,
    expectHeaders: PROBLEM,
  },
  {
    name: 'an accountant who deletes',
    method: 'DELETE',
    path: '/o/recs/task/a',
    as: 'accountant',
    status: 403,
  },
  { name: "a viewer who looks at everybody's messages", path: '/o/recs/sms_log', as: 'viewer', status: 403 },
  {
    name: 'a filter by a field that is hidden',
    path: '/o/recs/registration?oquery=guardian_phone=1',
    as: 'viewer',
    status: 403,
  },
  {
    name: 'another domain',
    path: '/o/recs/task',
    as: 'viewer',
    headers: { 'x-domain': 'elsewhere' },
    status: 403,
  },
];

/** Who may do nothing here is told that, and not what of the request is wrong besides. */
const notAllowedAndWrong: readonly Scenario[] = [
  ...[
    { path: '/feesummary.svc' },
    { path: '/feesummary.svc?type=nonsense' },
    { path: '/feesummary.svc?nonsense=1' },
    { path: '/?report=fee-summary' },
    { path: '/?report=fee-summary&nonsense=1' },
    { path: '/o/recs/fee_receipt?nonsense=1' },
    { path: '/o/recs/fee_receipt?limit=x' },
    { path: '/o/recs/fee_receipt?limit=1&limit=2' },
    { path: '/o/recs/fee_receipt/a?nonsense=1' },
    { method: 'POST', path: '/o/recs/fee_concession', body: {} },
    { method: 'POST', path: '/o/recs/fee_receipt', body: [1] },
    { method: 'POST', path: '/o/task', body: [1] },
    { method: 'POST', path: '/o/?collection=task', body: { _collection: 5 } },
    { method: 'POST', path: '/o/task', body: { _collection: 'class' } },
    { method: 'PATCH', path: '/o/recs/task/a', body: [] },
    { method: 'PUT', path: '/o/recs/task/a', body: { _id: 'b' } },
    { method: 'PUT', path: '/o/recs/task/a' },
    { method: 'DELETE', path: '/o/recs/task/a?nonsense=1' },
  ].map((scenario) => ({
    ...scenario,
    name:
      `${scenario.method ?? 'GET'} ` +
      `${scenario.path}${scenario.body === undefined ? '' : ` ${JSON.stringify(scenario.body)}`}`,
    as: 'viewer' as const,
    status: 403,
  })),
  {
    name: 'a report that is wrong, without a credential',
    path: '/?report=fee-summary&nonsense=1',
    status: 401,
  },
];

const notFound: readonly Scenario[] = [
  { name: 'a name that is too long', path: `/o/recs/${'a'.repeat(600)}`, as: 'viewer', status: 404 },
  {
    name: 'an unknown path',
    path: '/nonsense',
    status: 404,
    expectHeaders: PROBLEM,
    expectBody: { detail: 'There is nothing at /nonsense. GET / lists every path.' },
  },
  { name: 'an unknown path with another method', method: 'DELETE', path: '/nonsense', status: 404 },
  { name: 'an unknown collection', path: '/o/recs/nonsense', as: 'viewer', status: 404 },
  {
    name: 'an unknown collection to write to',
    method: 'POST',
    path: '/o/nonsense',
    as: 'admin',
    body: {},
    status: 404,
  },
  { name: 'an unknown record', path: '/o/recs/task/nonsense', as: 'viewer', status: 404 },
  {
    name: 'an unknown record to change',
    method: 'PATCH',
    path: '/o/recs/task/nonsense',
    as: 'clerk',
    body: { amount: 1 },
    status: 404,
  },
  {
    name: 'an unknown record to delete',
    method: 'DELETE',
    path: '/o/recs/task/nonsense',
    as: 'clerk',
    status: 404,
  },
  {
    name: 'an unknown domain',
    path: '/o/recs/task',
    as: 'admin',
    headers: { 'x-domain': 'nonsense' },
    status: 404,
  },
  { name: 'a name that could be a path', path: '/o/recs/..%2f..%2fetc', as: 'viewer', status: 404 },
  { name: 'a name with a quote', path: "/o/recs/task';drop table records;--", as: 'viewer', status: 404 },
];

const otherMethod: readonly Scenario[] = [
  {
    name: 'the list of records',
    method: 'PUT',
    path: '/o/recs/task',
    status: 405,
    expectHeaders: { allow: 'GET, HEAD, POST, PATCH, DELETE, OPTIONS', ...PROBLEM },
  },
  {
    name: 'one record',
    method: 'POST',
    path: '/o/recs/task/a',
    status: 405,
    body: {},
    expectHeaders: { allow: 'GET, HEAD, PATCH, PUT, DELETE, OPTIONS' },
  },
  { name: 'the token', path: '/auth', status: 405, expectHeaders: { allow: 'POST, OPTIONS' } },
  {
    name: 'the creation',
    path: '/o/task',
    as: 'clerk',
    status: 405,
    expectHeaders: { allow: 'POST, OPTIONS' },
  },
  {
    name: 'the index',
    method: 'POST',
    path: '/',
    status: 405,
    body: {},
    expectHeaders: { allow: 'GET, HEAD, OPTIONS' },
  },
  {
    name: 'health',
    method: 'POST',
    path: '/healthz',
    status: 405,
    body: {},
    expectHeaders: { allow: 'GET, HEAD, OPTIONS' },
  },
  {
    name: 'a method of WebDAV',
    method: 'PROPFIND',
    path: '/o/recs/task',
    status: 405,
    expectHeaders: { allow: 'GET, HEAD, POST, PATCH, DELETE, OPTIONS' },
  },
  { name: 'a path with a slash at its end', method: 'PUT', path: '/o/recs/task/', status: 405 },
];

const otherFormats: readonly Scenario[] = [
  {
    name: 'HTML of a list',
    path: '/o/recs/task',
    as: 'viewer',
    headers: { accept: 'text/html' },
    status: 406,
    expectHeaders: { 'content-type': 'application/json; charset=utf-8' },
  },
  {
    name: 'XML of a record',
    path: '/o/recs/task/a',
    as: 'viewer',
    headers: { accept: 'application/xml' },
    status: 406,
  },
  {
    name: 'JSON refused by name',
    path: '/o/recs/task',
    as: 'viewer',
    headers: { accept: 'application/json;q=0' },
    status: 406,
  },
  {
    name: 'NDJSON of one record',
    path: '/o/recs/task/a',
    as: 'viewer',
    headers: { accept: 'application/x-ndjson' },
    status: 406,
  },
  {
    name: 'HTML of a token',
    method: 'POST',
    path: '/auth?user_name=a&password=b',
    headers: { accept: 'text/html' },
    status: 406,
  },
  {
    name: 'an error to whom takes JSON alone',
    path: '/nonsense',
    headers: { accept: 'application/json' },
    status: 404,
    expectHeaders: { 'content-type': 'application/json; charset=utf-8' },
  },
];

const bodies: readonly Scenario[] = [
  {
    name: 'a body over the limit',
    method: 'POST',
    path: '/o/task',
    as: 'clerk',
    body: { name: 'a'.repeat(3000) },
    status: 413,
    expectHeaders: PROBLEM,
  },
  {
    name: 'a form to store',
    method: 'POST',
    path: '/o/task',
    as: 'clerk',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'name=a',
    status: 415,
    expectHeaders: PROBLEM,
  },
  {
    name: 'XML to store',
    method: 'POST',
    path: '/o/task',
    as: 'clerk',
    headers: { 'content-type': 'application/xml' },
    body: '<a/>',
    status: 415,
  },
  {
    name: 'text to store',
    method: 'POST',
    path: '/o/task',
    as: 'clerk',
    headers: { 'content-type': 'text/plain' },
    body: '{}',
    status: 415,
  },
  {
    name: 'a compressed body to store',
    method: 'POST',
    path: '/o/task',
    as: 'clerk',
    headers: { 'content-encoding': 'gzip' },
    body: { name: 'a' },
    status: 415,
    expectHeaders: { 'accept-encoding': 'identity', ...PROBLEM },
    expectBody: { detail: 'The body has the Content-Encoding "gzip". Send it as it is, without one.' },
  },
  {
    name: 'a compressed file',
    method: 'POST',
    path: '/files?name=a.csv',
    as: 'clerk',
    headers: { 'content-type': 'text/csv', 'content-encoding': 'gzip' },
    body: 'a,b',
    status: 415,
    expectHeaders: { 'accept-encoding': 'identity' },
  },
  {
    name: 'a body that says it is as it is',
    method: 'POST',
    path: '/o/task',
    as: 'clerk',
    headers: { 'content-encoding': 'identity' },
    body: { name: 'As it is' },
    status: 201,
  },
  {
    name: 'XML to sign in',
    method: 'POST',
    path: '/auth',
    headers: { 'content-type': 'text/xml' },
    body: '<a/>',
    status: 415,
  },
];

const teapot: readonly Scenario[] = [
  { name: 'coffee', path: '/teapot', status: 418, expectHeaders: PROBLEM },
];

describe('400', () => itAnswers(gateway, unreadable));
describe('401', () => itAnswers(gateway, notAuthenticated));
describe('403', () => itAnswers(gateway, notAllowed));
describe('403 before 400', () => itAnswers(gateway, notAllowedAndWrong));
describe('404', () => itAnswers(gateway, notFound));
describe('405', () => itAnswers(gateway, otherMethod));
describe('406', () => itAnswers(gateway, otherFormats));
describe('413 and 415', () => itAnswers(gateway, bodies));
describe('418', () => itAnswers(gateway, teapot));

describe('409, 410 and 412', () => {
  beforeAll(async () => {
    for (const id of ['taken', 'removed', 'changed']) {
      await gateway.fetch('/o/task', {
        method: 'POST',
        as: 'clerk',
        headers: JSON_BODY,
        body: JSON.stringify({ _id: id, name: id }),
      });
    }
    await gateway.fetch('/o/recs/task/removed', { method: 'DELETE', as: 'clerk' });
    await gateway.fetch('/o/recs/task/changed', {
      method: 'PATCH',
      as: 'clerk',
      headers: JSON_BODY,
      body: '{"amount":2}',
    });
    await gateway.fetch('/o/task', {
      method: 'POST',
      as: 'clerk',
      headers: { ...JSON_BODY, 'idempotency-key': 'key-1' },
      body: '{"name":"first"}',
    });
  });

  itAnswers(gateway, [
    {
      name: 'an _id that is taken',
      method: 'POST',
      path: '/o/task',
      as: 'clerk',
      body: { _id: 'taken', name: 'a' },
      status: 409,
      expectHeaders: PROBLEM,
    },
    {
      name: 'an _id that was removed',
      method: 'POST',
      path: '/o/task',
      as: 'clerk',
      body: { _id: 'removed', name: 'a' },
      status: 409,
    },
    {
      name: 'a list with an _id that is taken',
      method: 'POST',
      path: '/o/task',
      as: 'clerk',
      body: [
        { _id: 'new', name: 'a' },
        { _id: 'taken', name: 'b' },
      ],
      status: 409,
    },
    { name: 'of which nothing was stored', path: '/o/recs/task/new', as: 'clerk', status: 404 },
    {
      name: 'an idempotency key with another body',
      method: 'POST',
      path: '/o/task',
      as: 'clerk',
      headers: { 'idempotency-key': 'key-1' },
      body: { name: 'second' },
      status: 409,
      expectBody: { type: 'urn:campus:error:IDEMPOTENCY_CONFLICT' },
    },
    {
      name: 'a removed record',
      path: '/o/recs/task/removed',
      as: 'viewer',
      status: 410,
      expectHeaders: PROBLEM,
    },
    {
      name: 'a removed record to change',
      method: 'PATCH',
      path: '/o/recs/task/removed',
      as: 'clerk',
      body: { amount: 1 },
      status: 410,
    },
    {
      name: 'a removed record to remove',
      method: 'DELETE',
      path: '/o/recs/task/removed',
      as: 'clerk',
      status: 410,
    },
    {
      name: 'a version that is old',
      method: 'PATCH',
      path: '/o/recs/task/changed',
      as: 'clerk',
      headers: { 'if-match': '"1"' },
      body: { amount: 3 },
      status: 412,
      expectHeaders: PROBLEM,
    },
    {
      name: 'a version that is old, to replace',
      method: 'PUT',
      path: '/o/recs/task/changed',
      as: 'clerk',
      headers: { 'if-match': '"1"' },
      body: { name: 'b' },
      status: 412,
    },
    {
      name: 'a version that is old, to remove',
      method: 'DELETE',
      path: '/o/recs/task/changed',
      as: 'clerk',
      headers: { 'if-match': '"1"' },
      status: 412,
    },
    {
      name: 'a tag that is none of ours',
      method: 'DELETE',
      path: '/o/recs/task/changed',
      as: 'clerk',
      headers: { 'if-match': '"abc"' },
      status: 412,
    },
    {
      name: 'a record that is there and should be new',
      method: 'PUT',
      path: '/o/recs/task/changed',
      as: 'clerk',
      headers: { 'if-none-match': '*' },
      body: { name: 'b' },
      status: 412,
    },
    {
      name: 'an _id that the path says otherwise',
      method: 'PATCH',
      path: '/o/recs/task/changed',
      as: 'clerk',
      body: { _id: 'other' },
      status: 400,
    },
    {
      name: 'after all of which the record is as it was',
      path: '/o/recs/task/changed',
      as: 'viewer',
      status: 200,
      expectHeaders: { etag: '"2"' },
      expectBody: { amount: 2 },
    },
  ]);

  it('answers 410 for a dropped collection', async () => {
    const run = async (query: string) => {
      const answer = await gateway.fetch('/graphql', {
        method: 'POST',
        as: 'admin',
        headers: JSON_BODY,
        body: JSON.stringify({ query }),
      });
      expect(await answer.json()).not.toHaveProperty('errors');
    };
    await run('mutation { registerCollection(definition: {name: "visit"}) { name } }');
    expect((await gateway.fetch('/o/recs/visit', { as: 'admin' })).status).toBe(200);
    await run('mutation { dropCollection(name: "visit") }');
    for (const path of ['/o/recs/visit', '/o/recs/visit/a']) {
      expect((await gateway.fetch(path, { as: 'admin' })).status).toBe(410);
    }
  });
});
