/** Traces as a collector gets them: from a request through operation and statements to scripts and jobs. */
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { createContextKey, ROOT_CONTEXT } from '@opentelemetry/api';
import { TracerProvider } from '@opentelemetry/sdk-trace';
import { TraceContext } from '../../src/gateway/compose/start-tracing.js';
import { eventually } from '../eventually.js';
import { useHttpServer } from '../services/scripting/requests/http-server.js';
import { useGateway } from './gateway.js';
import { ask } from './graphql.js';

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly status: { readonly code?: number };
  readonly attributes: readonly { readonly key: string; readonly value: Record<string, unknown> }[];
}

const collector = useHttpServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
});
const bank = useHttpServer((_request, response) => {
  response.end('"paid"');
});
const gateway = useGateway({
  LOG_LEVEL: 'info',
  TRACES_PER_SECOND: '5',
  SCRIPT_REQUEST_PRIVATE_HOSTS: '127.0.0.1',
  get OTEL_EXPORTER_OTLP_ENDPOINT() {
    return collector.url;
  },
  get SCRIPT_REQUEST_PORTS() {
    return String(bank.port);
  },
});

/** Of the caller, as a browser or another service sends it. */
const CALLER = '00f067aa0ba902b7';
let traces = 0;
function newTrace(): { readonly traceId: string; readonly headers: Readonly<Record<string, string>> } {
  traces += 1;
  const traceId = traces.toString(16).padStart(32, 'a');
  return { traceId, headers: { traceparent: `00-${traceId}-${CALLER}-01` } };
}

function spansOf(traceId: string): Span[] {
  return collector.seen
    .filter(({ url }) => url === '/v1/traces')
    .flatMap(({ body }) => JSON.parse(body).resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans }): Span[] => spans)
    .filter((span) => span.traceId === traceId);
}

/** How many requests of a list were told of. */
function requestsTold(): number {
  return collector.seen
    .filter(({ url }) => url === '/v1/traces')
    .flatMap(({ body }) => body.match(/"name":"GET \/o\/recs\/:collection"/g) ?? []).length;
}

/** The spans of a trace, once those of these names are among them. They are sent every few seconds. */
async function spansWith(traceId: string, names: readonly string[]): Promise<readonly Span[]> {
  await eventually(() => {
    const found = new Set(spansOf(traceId).map(({ name }) => name));
    return names.every((name) => found.has(name));
  }, 30_000);
  return spansOf(traceId);
}

function attributesOf(span: Span | undefined): Record<string, unknown> {
  return Object.fromEntries((span?.attributes ?? []).map(({ key, value }) => [key, Object.values(value)[0]]));
}

/** The names from a span up to the first of its trace that is ours. */
function pathOf(span: Span | undefined, spans: readonly Span[]): string[] {
  if (span === undefined) return [];
  const parent = spans.find(({ spanId }) => spanId === span.parentSpanId);
  return [span.name, ...pathOf(parent, spans)];
}

describe('a trace', () => {
  it('goes on from the caller, through the operation, to the statements', async () => {
    const { traceId, headers } = newTrace();
    const answer = await gateway.fetch('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query: 'query Tasks { attendanceRecords(first: 3) { nodes { id } } }' }),
      as: 'admin',
    });
    expect(await answer.json()).toEqual({ data: { attendanceRecords: { nodes: [] } } });
    const spans = await spansWith(traceId, ['POST /graphql', 'graphql query', 'postgresql select']);
    const server = spans.find(({ name }) => name === 'POST /graphql');
    expect(server).toMatchObject({ parentSpanId: CALLER, kind: 2 });
    expect(attributesOf(server)).toMatchObject({
      'http.request.method': 'POST',
      ...{ 'http.route': '/graphql', 'url.scheme': 'http' },
      'http.response.status_code': 200,
      'campus.operation': 'Tasks',
    });
    const operation = spans.find(({ name }) => name === 'graphql query');
    expect(attributesOf(operation)).toMatchObject({ 'graphql.operation.name': 'Tasks' });
    // On Citus it is asked first where the school is.
    const within = spans.findLast(({ parentSpanId }) => parentSpanId === operation?.spanId);
    expect(pathOf(within, spans)).toEqual(['postgresql select', 'graphql query', 'POST /graphql']);
    expect(attributesOf(within)).toMatchObject({
      'db.system.name': 'postgresql',
      'db.query.text': expect.stringContaining('from records'),
    });
  });

  it('has no value that a caller sent', async () => {
    const { traceId, headers } = newTrace();
    await gateway.fetch('/o/recs/task?oquery=name=kept-to-ourselves', { headers, as: 'admin' });
    await gateway.fetch('/auth?user_name=admin&password=kept-to-ourselves', { method: 'POST', headers });
    const spans = await spansWith(traceId, ['GET /o/recs/:collection', 'POST /auth']);
    expect(JSON.stringify(spans)).not.toContain('kept-to-ourselves');
    expect(attributesOf(spans.find(({ name }) => name === 'POST /auth'))).toMatchObject({
      'http.response.status_code': 401,
      'error.type': 'WRONG_LOGIN',
    });
  });

  it('goes on in the job that a write starts, in its script, and in whom that asks', async () => {
    const code = `const answer = platform.request('${bank.url}/pay'); platform.db.getCount('task', {});
      export default answer.body;`;
    const script = {
      ...{ name: 'pays', code, serviceRoles: ['admin'] },
      after: [{ collection: 'task', operations: ['CREATE'] }],
    };
    await ask(gateway, 'mutation S($script: SaveScriptInput!) { saveScript(script: $script) { name } }', {
      variables: { script },
    });
    const { traceId, headers } = newTrace();
    const created = await gateway.fetch('/o/task', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ name: 'Traced' }),
      as: 'admin',
    });
    expect([created.status, await created.text()]).toEqual([201, expect.any(String)]);
    const spans = await spansWith(traceId, ['POST /o/:collection', 'job scripts.run', 'script']);
    const job = spans.find(({ name }) => name === 'job scripts.run');
    expect(job).toMatchObject({ kind: 5 });
    const run = spans.find(({ name }) => name === 'script');
    expect(attributesOf(run)).toMatchObject({ 'campus.script': 'pays' });
    expect(pathOf(run, spans).slice(0, 2)).toEqual(['script', 'job scripts.run']);
    const statement = spans.find(({ parentSpanId }) => parentSpanId === run?.spanId);
    expect(statement?.name).toBe('postgresql select');
    expect(bank.seen.map(({ headers }) => headers.traceparent)).toEqual([
      expect.stringMatching(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`)),
    ]);
  });

  it('is begun by a delivery of a webhook, and carried to the address', async () => {
    const events = [{ collection: 'task', operations: ['created'] }];
    await ask(gateway, 'mutation W($data: CreateWebhookInput!) { createWebhook(data: $data) { secret } }', {
      variables: { data: { name: 'traced', url: `${bank.url}/hook`, events } },
    });
    await gateway.fetch('/o/task', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Told of' }),
      as: 'admin',
    });
    const delivered = () => bank.seen.find(({ url }) => url === '/hook');
    await eventually(() => delivered() !== undefined, 30_000);
    const [, traceId = '', spanId] = String(delivered()?.headers.traceparent).split('-');
    const spans = await spansWith(traceId, ['webhook']);
    const webhook = spans.find(({ name }) => name === 'webhook');
    expect(webhook).toMatchObject({ spanId, kind: 5 });
    expect(webhook).not.toHaveProperty('parentSpanId');
    expect(attributesOf(webhook)).toEqual({
      'campus.webhook': expect.stringMatching(/^[\da-f-]{36}$/),
      'campus.attempt': 1,
    });
  });

  it('begins here where the caller sends none, or one that is none', async () => {
    await gateway.fetch('/o/recs/class', { headers: { traceparent: 'nonsense' }, as: 'admin' });
    const line = () => gateway.log.map((one) => JSON.parse(one)).find(({ url }) => url === '/o/recs/class');
    await eventually(() => line() !== undefined);
    expect(line().traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(line().spanId).toMatch(/^[0-9a-f]{16}$/);
    const spans = await spansWith(line().traceId, ['GET /o/recs/:collection']);
    expect(spans.find(({ spanId }) => spanId === line().spanId)?.parentSpanId ?? '').toBe('');
  });

  it('is named by every line of the log that a request writes', async () => {
    const { traceId, headers } = newTrace();
    await gateway.fetch('/o/recs/task', { headers, as: 'admin' });
    const lines = () => gateway.log.map((one) => JSON.parse(one)).filter((one) => one.traceId === traceId);
    await eventually(() => lines().length > 0);
    expect(lines()).toEqual([expect.objectContaining({ event: 'requestEnded', url: '/o/recs/task' })]);
  });
});

describe('a gateway that is asked to tell of more than it may', () => {
  it('tells of some requests, and answers all', async () => {
    const before = requestsTold();
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => gateway.fetch('/o/recs/class', { ...newTrace(), as: 'admin' })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    await eventually(() => requestsTold() > before, 30_000);
    expect(requestsTold() - before).toBeLessThan(100);
  });
});

const NAME = createContextKey('name');

/** A span that is under way is known by its name. */
function openContexts() {
  const contexts = new TraceContext();
  const tracer = new TracerProvider({ spanProcessors: [contexts.watch] }).getTracer('test');
  const active = () => contexts.active().getValue(NAME);
  const within = <T>(name: string, work: () => T) => contexts.with(ROOT_CONTEXT.setValue(NAME, name), work);
  return { contexts, tracer, active, within };
}

describe('what is under way', () => {
  it('follows calls until its span has ended, and those of others', async () => {
    const { tracer, active, within } = openContexts();
    const span = tracer.startSpan('one');
    const other = tracer.startSpan('other');
    const later = within('one', async () => {
      await turn();
      const before = active();
      span.end();
      await turn();
      return [before, active()];
    });
    const others = within('other', async () => {
      await later;
      return active();
    });
    expect(active()).toBeUndefined();
    expect(await later).toEqual(['one', 'one']);
    expect(await others).toBe('other');
    other.end();
  });

  const upToNode22 = Number.parseInt(process.versions.node, 10) < 24 ? it : it.skip;

  upToNode22('follows nothing where no span is open (up to Node 22, which pays for it)', async () => {
    const { tracer, active, within } = openContexts();
    const span = tracer.startSpan('one');
    const later = within('one', async () => {
      await turn();
      return active();
    });
    span.end();
    expect(await later).toBeUndefined();
  });

  it('is known to what is called within it once more, though its span has ended', () => {
    const { contexts, tracer, active, within } = openContexts();
    const span = tracer.startSpan('one');
    const bound = within('one', () => contexts.bind(contexts.active(), active));
    span.end();
    expect(bound()).toBe('one');
    expect(active()).toBeUndefined();
  });
});
