/** The words of the GraphQL tests: operations over HTTP, and the statements they cost. */
import pg from 'pg';
import type { Gateway, Role } from './gateway.js';

// biome-ignore lint/suspicious/noExplicitAny: the tests look into answers of every shape
export type Answered = any;

export interface GraphqlError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions: { readonly code: string; readonly status: number; readonly requestId: string };
}

export interface GraphqlAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly data: Answered;
  readonly errors: readonly GraphqlError[];
}

export interface Operation {
  readonly query: string;
  readonly variables?: unknown;
  /** Absent: no credential. */
  readonly as?: Role | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What an operation is sent by: any of the gateways of the tests. */
export type Sender = Pick<Gateway, 'fetch'>;

/** Sends one operation. The body is JSON as written here, so exact numbers can be sent as text. */
export async function send(gateway: Sender, operation: Operation): Promise<GraphqlAnswer> {
  const { query, variables, as, headers } = operation;
  const response = await gateway.fetch('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body:
      typeof variables === 'string'
        ? `{"query":${JSON.stringify(query)},"variables":${variables}}`
        : JSON.stringify({ query, variables }),
    as,
  });
  const { data, errors = [] } = (await response.json()) as {
    data: Answered;
    errors?: readonly GraphqlError[];
  };
  return { status: response.status, headers: response.headers, data, errors };
}

/** The data of an operation that must succeed. */
export async function ask(
  gateway: Sender,
  query: string,
  options: Omit<Operation, 'query'> = { as: 'admin' },
): Promise<Answered> {
  const { data, errors } = await send(gateway, { as: 'admin', ...options, query });
  if (errors.length > 0) throw new Error(JSON.stringify(errors));
  return data;
}

/** The codes of the errors of an operation that must fail. */
export async function codesOf(gateway: Sender, operation: Operation): Promise<readonly string[]> {
  const { errors } = await send(gateway, operation);
  return errors.map((error) => error.extensions.code);
}

/** The same operation beside a root field that graphql-js executes: the answer is joined from both. */
export function besideExecuted(query: string): string {
  return query.replace('{', '{ plainly: me { id } ');
}

/** The statements on records that the gateway runs while `work` does. */
export async function statementsOf(work: () => Promise<unknown>): Promise<readonly string[]> {
  const statements: string[] = [];
  const original = pg.Client.prototype.query;
  const recording = function (this: pg.Client, ...args: unknown[]) {
    const [config] = args;
    const text = typeof config === 'string' ? config : textOf(config);
    if (text.includes('from records') && !text.includes('sessions')) statements.push(text);
    return Reflect.apply(original, this, args);
  };
  Object.assign(pg.Client.prototype, { query: recording });
  try {
    await work();
  } finally {
    Object.assign(pg.Client.prototype, { query: original });
  }
  return statements;
}

function textOf(config: unknown): string {
  return typeof config === 'object' && config !== null && 'text' in config ? String(config.text) : '';
}
