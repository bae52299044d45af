/** One morning's work of a client program, done by HTTP clients of several makes. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, it, test } from '@jest/globals';
import axios from 'axios';
import got from 'got';
import createClient from 'openapi-fetch';
import { useDemoGateway } from '../contract/demo-gateway.js';

const gateway = useDemoGateway({ students: 30 });
const run = promisify(execFile);

interface Sent {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly token?: string;
  readonly body?: object;
}

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the test looks into answers of every shape
  readonly body: any;
}

type Client = (sent: Sent) => Promise<Answer>;

const PYTHON = `
import json, sys, urllib.error, urllib.request
method, url, token, body = sys.argv[1:]
headers = {'Content-Type': 'application/json'} if body else {}
if token: headers['Authorization'] = 'Bearer ' + token
request = urllib.request.Request(url, body.encode() or None, headers, method=method)
try: answer = urllib.request.urlopen(request)
except urllib.error.HTTPError as error: answer = error
print(json.dumps({'status': answer.status, 'text': answer.read().decode()}))
`;

/** Sends one request, and prints the status and, behind a line end, the body. */
const JAVA = `
import java.net.URI;
import java.net.http.*;

class Client {
  public static void main(String[] sent) throws Exception {
    var request = HttpRequest.newBuilder(URI.create(sent[1])).header("Content-Type", "application/json");
    if (!sent[2].isEmpty()) request.header("Authorization", "Bearer " + sent[2]);
    request.method(sent[0], HttpRequest.BodyPublishers.ofString(sent[3]));
    var answer = HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofString());
    System.out.write((answer.statusCode() + " " + answer.body()).getBytes("UTF-8"));
    System.out.flush();
  }
}`;

/** As Java's. */
const PHP = `
[, $method, $url, $token, $body] = $argv;
$headers = $token === '' ? [] : ["Authorization: Bearer $token"];
if ($body !== '') $headers[] = 'Content-Type: application/json';
$http = ['method' => $method, 'header' => $headers, 'content' => $body, 'ignore_errors' => true];
$text = file_get_contents($url, false, stream_context_create(['http' => $http]));
echo explode(' ', $http_response_header[0])[1], ' ', $text;
`;

/** The clients of the programs that are not installed. */
const MISSING = ['Java', 'PHP'].filter(
  (language) => spawnSync(language.toLowerCase(), ['--version']).status !== 0,
);

const headersOf = ({ token }: Sent) => (token === undefined ? {} : { authorization: `Bearer ${token}` });
const parsed = (status: number, text: string): Answer => ({ status, body: text && JSON.parse(text) });

const CLIENTS: Readonly<Record<string, Client>> = {
  async axios(sent) {
    const { status, data } = await axios.request({
      url: gateway.url + sent.path,
      method: sent.method,
      headers: headersOf(sent),
      ...(sent.body && { data: sent.body }),
      validateStatus: null,
    });
    return { status, body: data };
  },
  async got(sent) {
    const { statusCode, body } = await got(gateway.url + sent.path, {
      method: sent.method,
      headers: headersOf(sent),
      ...(sent.body && { json: sent.body }),
      throwHttpErrors: false,
      retry: { limit: 0 },
    });
    return parsed(statusCode, body);
  },
  async 'openapi-fetch'(sent) {
    // Without the types that openapi-typescript would print.
    // biome-ignore lint/suspicious/noExplicitAny: a client of any API
    const client = createClient<any>({ baseUrl: gateway.url });
    const { data, error, response } = await client.request(
      sent.method.toLowerCase() as 'get',
      sent.path as never,
      {
        headers: headersOf(sent),
        body: sent.body,
      } as never,
    );
    return { status: response.status, body: data ?? error };
  },
  async curl(sent) {
    const { stdout } = await run('curl', [
      ...['--silent', '--request', sent.method, '--write-out', '\n%{http_code}'],
      ...Object.entries(headersOf(sent)).flatMap(([name, value]) => ['--header', `${name}: ${value}`]),
      ...(sent.body
        ? ['--header', 'content-type: application/json', '--data', JSON.stringify(sent.body)]
        : []),
      gateway.url + sent.path,
    ]);
    const end = stdout.lastIndexOf('\n');
    return parsed(Number(stdout.slice(end + 1)), stdout.slice(0, end));
  },
  async 'urllib of Python'(sent) {
    const body = sent.body ? JSON.stringify(sent.body) : '';
    const { stdout } = await run('python3', [
      ...['-c', PYTHON, sent.method, gateway.url + sent.path, sent.token ?? '', body],
    ]);
    const { status, text } = JSON.parse(stdout);
    return parsed(status, text);
  },
  async 'HttpClient of Java'(sent) {
    const folder = await mkdtemp(path.join(tmpdir(), 'java-'));
    const source = path.join(folder, 'Client.java');
    await writeFile(source, JAVA);
    const body = sent.body ? JSON.stringify(sent.body) : '';
    const { stdout } = await run('java', [
      ...['-Dfile.encoding=UTF-8', source, sent.method, gateway.url + sent.path, sent.token ?? '', body],
    ]);
    await rm(folder, { recursive: true });
    return parsed(Number(stdout.slice(0, 3)), stdout.slice(4));
  },
  async 'streams of PHP'(sent) {
    const body = sent.body ? JSON.stringify(sent.body) : '';
    const { stdout } = await run('php', [
      ...['-r', PHP, sent.method, gateway.url + sent.path, sent.token ?? '', body],
    ]);
    return parsed(Number(stdout.slice(0, 3)), stdout.slice(4));
  },
};

describe.each(Object.entries(CLIENTS))('%s', (name, send) => {
  const it = MISSING.some((language) => name.endsWith(language)) ? test.skip : test;

  it('logs in, finds, creates, changes, removes, and reads refusals', async () => {
    const credential = { user_name: 'admin', password: 'demo-admin' };
    const login = await send({ method: 'POST', path: '/auth', body: credential });
    expect(login.status).toBe(200);
    const token: string = login.body.access_token;

    const oquery = encodeURIComponent('class=5');
    const found = await send({ method: 'GET', path: `/o/recs/registration?oquery=${oquery}&limit=2`, token });
    expect(found).toMatchObject({ status: 200, body: { length: 2 } });

    const bell = { name: 'घंटी – bell' };
    const created = await send({ method: 'POST', path: '/o/task', token, body: bell });
    expect(created).toMatchObject({ status: 201, body: bell });
    const own = `/o/recs/task/${created.body._id}`;
    expect(await send({ method: 'PATCH', path: own, token, body: { name: 'Roof' } })).toMatchObject({
      status: 200,
    });
    expect(await send({ method: 'GET', path: own, token })).toMatchObject({
      status: 200,
      body: { name: 'Roof' },
    });
    expect((await send({ method: 'DELETE', path: own, token })).status).toBeLessThan(300);
    expect(await send({ method: 'GET', path: own, token })).toMatchObject({ status: 410 });
    expect(await send({ method: 'GET', path: '/o/recs/registration' })).toMatchObject({ status: 401 });
  });
});

it('DuckDB reads an export as Parquet', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'duckdb-'));
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    const file = path.join(folder, 'records.parquet');
    const read = async (collection: string, question: string) => {
      await run('curl', [
        ...['--silent', '--fail', '--output', file],
        ...['--header', `authorization: Bearer ${gateway.tokenOf('admin')}`],
        `${gateway.url}/o/recs/${collection}?format=parquet`,
      ]);
      const answer = await connection.runAndReadAll(question.replace('records', `read_parquet('${file}')`));
      return answer.getRowObjectsJson();
    };
    expect(
      await read(
        'registration',
        'select count(*)::int as students, count(distinct _id)::int as ids from records',
      ),
    ).toEqual([{ students: 30, ids: 30 }]);
    const [collected] = await read(
      'fee_receipt',
      `select bool_and(list_sum(list_transform(lines, line -> line.amount + coalesce(line.fine, 0))) = total)
         as "isTotal", typeof(any_value(lines)) as type from records`,
    );
    expect(collected).toEqual({
      isTotal: true,
      type: expect.stringMatching(/^STRUCT\(fee_head VARCHAR, .*amount DECIMAL\(38,10\).*\)\[\]$/),
    });
    const [marks] = await read(
      'result',
      `select count(component."name")::int as components
         from (select unnest(subject.components) as component
           from (select unnest(subjects) as subject from records))`,
    );
    expect(marks?.components).toBeGreaterThan(0);
  } finally {
    connection.closeSync();
    instance.closeSync();
    await rm(folder, { recursive: true });
  }
});
