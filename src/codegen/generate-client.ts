/**
 * The files of a typed client for one gateway and one credential: what the credential may not see is not in
 * them. All is read from the gateway itself, so that collections registered at run time are typed as well.
 */
import { buildClientSchema, getIntrospectionQuery, type IntrospectionQuery } from 'graphql';
import { ServiceError } from '../errors.js';
import { printCacheSettings } from './print-cache-settings.js';
import { printClient } from './print-client.js';
import { type OpenapiDocument, printContractTypes } from './print-contract-types.js';
import { type OperationDocument, printOperationTypes } from './print-operation-types.js';

export interface GenerateOptions {
  /** Of the gateway, without a slash at its end. */
  readonly address: string;
  /** An API key or access token. */
  readonly token: string;
  /** The operations to type. Absent: those of the library of the gateway. */
  readonly documents?: readonly OperationDocument[];
}

const HEAD = '// Made by `campus codegen`. To be made again, not changed.\n\n';

/** The texts by the names of their files. @throws ServiceError that says what the gateway answered */
export async function generateClient(options: GenerateOptions): Promise<Readonly<Record<string, string>>> {
  const [openapi, schema, documents] = await Promise.all([
    readJson<OpenapiDocument>(options, '/openapi.json'),
    readSchema(options),
    options.documents ?? readLibrary(options),
  ]);
  return {
    'contract.ts': HEAD + printContractTypes(openapi),
    'operations.ts': HEAD + printOperationTypes(schema, documents),
    'cache.ts': HEAD + printCacheSettings(schema),
    'client.ts': HEAD + printClient(),
    'index.ts': `${HEAD}${INDEX}`,
    'package.json': `${JSON.stringify(PACKAGE, undefined, 2)}\n`,
  };
}

const INDEX = `export * from './cache.js';
export * from './client.js';
export type * from './contract.js';
export * as operations from './operations.js';
`;

const PACKAGE = {
  name: 'campus-client',
  version: '0.0.0',
  private: true,
  type: 'module',
  exports: { '.': './index.ts' },
};

async function readSchema(options: GenerateOptions) {
  const { data, errors } = await readJson<Introspected>(options, '/graphql', {
    query: getIntrospectionQuery({ inputValueDeprecation: true }),
  });
  if (data) return buildClientSchema(data);
  throw refused('/graphql', errors?.[0]?.message ?? 'there is no schema');
}

interface Introspected {
  readonly data?: IntrospectionQuery;
  readonly errors?: readonly { readonly message: string }[];
}

async function readLibrary(options: GenerateOptions): Promise<readonly OperationDocument[]> {
  const library = await readJson<readonly { readonly name: string; readonly document: string }[]>(
    options,
    '/explore/operations.json',
  );
  return library.map(({ name, document }) => ({ source: name, text: document }));
}

async function readJson<Answer>(
  { address, token }: GenerateOptions,
  path: string,
  body?: object,
): Promise<Answer> {
  const answer = await fetch(address + path, {
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  }).catch((error: Error) => {
    throw refused(address, `${error.message}${error.cause ? `: ${String(error.cause)}` : ''}`);
  });
  const text = await answer.text();
  try {
    const read = JSON.parse(text);
    if (answer.ok) return read;
    throw refused(path, `${answer.status}: ${read.detail ?? read.errors?.[0]?.message ?? text}`);
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw refused(path, `${answer.status}, and no JSON; is this the address of a gateway?`);
  }
}

function refused(what: string, why: string): ServiceError {
  return new ServiceError('INVALID_VALUE', `${what} answered ${why}`);
}
