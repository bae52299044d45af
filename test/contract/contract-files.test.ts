/** The contract as it is downloaded: for everybody, and for each caller what is its own. */
import { once } from 'node:events';
import http from 'node:http';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { reports } from '../../src/school/reports/registry.js';
import { type Role, useGateway } from './gateway.js';

const gateway = useGateway();

interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, { readonly headers?: object }>>;
}

interface Contract {
  readonly servers: readonly unknown[];
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<
      Record<string, { readonly properties: Readonly<Record<string, object>>; readonly required?: string[] }>
    >;
  };
}

async function graphql(query: string, variables: object, as: Role) {
  const answer = await gateway.fetch('/graphql', {
    method: 'POST',
    as,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  return await answer.json();
}

async function contractOf(as?: Role, headers: Readonly<Record<string, string>> = {}): Promise<Contract> {
  const answer = await gateway.fetch('/openapi.json', { as, headers });
  expect(answer.status).toBe(200);
  return JSON.parse(await answer.text());
}

const VISIT = {
  name: 'visit',
  title: 'Visits',
  description: 'Who came to the school.',
  fields: [
    { name: 'visitor', type: 'text', required: true, description: 'The name.' },
    { name: 'purpose', type: 'text', enum: ['meeting', 'delivery'] },
    { name: 'on', type: 'datetime', format: 'date' },
    { name: 'student', type: 'reference', target: 'registration' },
    { name: 'paid', type: 'number', decimal: true },
    { name: 'note', type: 'text' },
  ],
  access: {
    clerk: { verbs: ['read', 'create', 'update'], readOnlyFields: ['paid'] },
    viewer: { verbs: ['read'], hiddenFields: ['note'] },
  },
};

beforeAll(async () => {
  const answer = await graphql(
    'mutation($d: JSON!) { registerCollection(definition: $d) { name } }',
    { d: VISIT },
    'admin',
  );
  expect(answer).toEqual({ data: { registerCollection: { name: 'visit' } } });
});

describe('openapi.json', () => {
  it('tells a stranger of the declared collections, and not of those registered at run time', async () => {
    const contract = await contractOf();
    expect(contract.paths['/o/recs/task']).toBeDefined();
    expect(JSON.stringify(contract)).not.toContain('visit');
  });

  it('has for a caller the collections registered at run time, with its fields and rights', async () => {
    const [admin, clerk, viewer, teacher] = await Promise.all(
      (['admin', 'clerk', 'viewer', 'teacher'] as const).map((role) => contractOf(role)),
    );
    const methodsOf = (contract: Contract | undefined) =>
      ['/o/recs/visit', '/o/visit', '/o/recs/visit/{id}'].map((path) =>
        Object.keys(contract?.paths[path] ?? {}),
      );
    expect(methodsOf(admin)).toEqual([['get', 'post'], ['post'], ['get', 'patch', 'put', 'delete']]);
    expect(methodsOf(clerk)).toEqual([['get', 'post'], ['post'], ['get', 'patch', 'put']]);
    expect(methodsOf(viewer)).toEqual([['get', 'post'], [], ['get']]);
    expect(JSON.stringify(teacher)).not.toContain('visit');

    expect(clerk?.components.schemas.VisitRecord?.properties).toMatchObject({
      visitor: { type: 'string', description: 'The name.' },
      purpose: { type: ['string', 'null'], enum: ['meeting', 'delivery', null] },
      on: { type: ['string', 'null'], format: 'date' },
      student: { anyOf: [{ $ref: '#/components/schemas/Reference' }, { type: 'null' }] },
      paid: { type: ['number', 'null'] },
    });
    expect(clerk?.components.schemas.NewVisitRecord?.required).toEqual(['visitor']);
    expect(clerk?.components.schemas.NewVisitRecord?.properties).not.toHaveProperty('paid');
    expect(viewer?.components.schemas.VisitRecord?.properties).not.toHaveProperty('note');
    expect(viewer?.components.schemas).not.toHaveProperty('NewVisitRecord');
    expect(clerk?.tags).toContainEqual({ name: 'visit', description: expect.stringContaining('came') });
    for (const contract of [clerk, viewer, teacher]) {
      expect(await new Validator().validate(JSON.parse(JSON.stringify(contract)))).toEqual({ valid: true });
    }
  });

  it('hides the reports that the caller may not run, and their documented paths', async () => {
    const [admin, clerk] = await Promise.all([contractOf('admin'), contractOf('clerk')]);
    for (const { name, roles, routes } of reports) {
      expect(Object.keys(admin.paths)).toContain(`/reports/${name}`);
      const [described] = routes.map(({ path }) => path.replaceAll(/:(\w+)/g, '{$1}'));
      const isShown = roles.includes('clerk');
      expect([name, `/reports/${name}` in clerk.paths]).toEqual([name, isShown]);
      if (described !== undefined) expect([name, described in clerk.paths]).toEqual([name, isShown]);
    }
  });

  it('is as it was again where nothing changed, and anew when a collection did', async () => {
    const first = await gateway.fetch('/openapi.json', { as: 'admin' });
    const etag = first.headers.get('etag') ?? '';
    expect(first.headers.get('cache-control')).toBe('private, no-cache');
    const again = await gateway.fetch('/openapi.json', { as: 'admin', headers: { 'if-none-match': etag } });
    expect(again.status).toBe(304);
    const altered = { ...VISIT, fields: [...VISIT.fields, { name: 'badge', type: 'text' }] };
    await graphql(
      'mutation($d: JSON!) { alterCollection(definition: $d) { name } }',
      { d: altered },
      'admin',
    );
    expect((await contractOf('admin')).components.schemas.VisitRecord?.properties).toHaveProperty('badge');
  });

  it('names the full address of the gateway as its server', async () => {
    expect((await contractOf()).servers).toEqual([{ url: gateway.url }]);
  });

  it('names that of the request, and none where the request names what is no address', async () => {
    const serversAt = async (host: string) => {
      const request = http.get(`${gateway.url}/openapi.json`, { headers: { host } });
      const [answer] = await once(request, 'response');
      return JSON.parse(await text(answer)).servers;
    };
    expect(await serversAt('school.example:8443')).toEqual([{ url: 'http://school.example:8443' }]);
    expect(await serversAt('school.example/elsewhere?')).toEqual([{ url: '/' }]);
    expect(await serversAt('user@school.example')).toEqual([{ url: '/' }]);
  });

  it('refuses a wrong credential rather than to answer as to a stranger', async () => {
    const answer = await gateway.fetch('/openapi.json', { headers: { authorization: 'Bearer none' } });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
  });

  it('declares the headers that come', async () => {
    const contract = await contractOf('admin');
    const asked: readonly (readonly [path: string, method: string, address: string, as?: Role])[] = [
      ['/o/recs/task', 'get', '/o/recs/task', 'admin'],
      ['/o/recs/task', 'get', '/o/recs/task'],
      ['/o/recs/fee_head', 'get', '/o/recs/sms_log', 'teacher'],
      ['/healthz', 'get', '/healthz'],
      ['/reports/strength', 'get', '/reports/strength', 'admin'],
      ['/.graphqlrc', 'get', '/.graphqlrc'],
    ];
    for (const [path, method, address, as] of asked) {
      const answer = await gateway.fetch(address, { method, as });
      await answer.arrayBuffer();
      const declared = contract.paths[path]?.[method]?.responses[answer.status] as
        | { readonly $ref?: string; readonly headers?: object }
        | undefined;
      const [, name] = /responses\/(\w+)$/.exec(declared?.$ref ?? '') ?? [];
      const responses = (contract.components as unknown as { responses: Record<string, object> }).responses;
      const { headers } = { headers: {}, ...declared, ...(name && responses[name]) };
      const rates = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'WWW-Authenticate'];
      for (const header of ['X-Request-Id', ...rates]) {
        expect([address, answer.status, header, answer.headers.has(header)]).toEqual([
          ...[address, answer.status, header],
          header in headers,
        ]);
      }
    }
  });
});

describe('a report by its name', () => {
  it.each(['strength', 'classes-by-category', 'day-sheet'])(
    '%s answers at /reports/… what it answers at /?report=',
    async (name) => {
      const [byPath, byQuery] = await Promise.all(
        [`/reports/${name}?format=csv`, `/?report=${name}&format=csv`].map((path) =>
          gateway.fetch(path, { as: 'admin' }),
        ),
      );
      expect([byPath?.status, await byPath?.text()]).toEqual([200, await byQuery?.text()]);
    },
  );

  it('is refused there as elsewhere', async () => {
    const answers = await Promise.all([
      gateway.fetch('/reports/strength'),
      gateway.fetch('/reports/fee-defaulters?startMonth=2026-04&endMonth=2026-04', { as: 'teacher' }),
      gateway.fetch('/reports/strength?sesion=2026-27', { as: 'admin' }),
      gateway.fetch('/reports/strength', { as: 'admin', method: 'DELETE' }),
      gateway.fetch('/reports/none', { as: 'admin' }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([401, 403, 400, 405, 404]);
  });
});

describe('.graphqlrc', () => {
  it('names the endpoint and the token', async () => {
    const answer = await gateway.fetch('/.graphqlrc');
    const { schema } = JSON.parse(await answer.text());
    expect(schema).toEqual([
      { [`${gateway.url}/graphql`]: { headers: { Authorization: 'Bearer $'.concat('{CAMPUS_TOKEN}') } } },
    ]);
  });
});
