/** Compiles a Mongo query to a test of documents in memory, by mingo. */
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** mingo is loaded at the first call: few updates contain a query, and it has three hundred files. */
export function compileMongoTest(query: object): (document: object) => boolean {
  const { Context } = require('mingo') as typeof import('mingo');
  const { Query } = require('mingo/query') as typeof import('mingo/query');
  const operators = require('mingo/operators/query') as typeof import('mingo/operators/query');
  // Regular expressions are left to the database, which runs them in bounded time.
  const { $regex: _refused, ...allowed } = operators;
  const compiled = new Query(query, { context: Context.init({ query: allowed }), scriptEnabled: false });
  return (document) => compiled.test(document as Record<string, never>);
}
