/** The settings of GraphQL: page sizes, limits of a document, which documents are answered. */
import { z } from 'zod';
import { flagSetting, positiveSetting, rolesSetting, setting } from '../../base/settings.js';

export const GRAPHQL_SETTINGS = {
  defaultPageSize: setting(positiveSetting, 'GraphQL: records of a page when `first` is not given', '50'),
  maxPageSize: setting(positiveSetting, 'GraphQL: largest `first`', '1000'),
  graphqlMaxDepth: setting(positiveSetting, 'GraphQL: deepest nesting of a document', '12'),
  graphqlMaxCost: setting(
    positiveSetting,
    'GraphQL: highest cost of an operation, counted by page sizes',
    '10000',
  ),
  graphqlMaxRootFields: setting(positiveSetting, 'GraphQL: root fields and aliases of a document', '15'),
  graphqlMaxTokens: setting(
    positiveSetting,
    'GraphQL: tokens of a document; the largest introspection query has some 500',
    '5000',
  ),
  graphqlMaxDirectives: setting(positiveSetting, 'GraphQL: directives of a document', '50'),
  graphqlBatching: setting(flagSetting, 'GraphQL: accept an array of operations in one request', 'false'),
  graphqlMaxBatch: setting(
    positiveSetting,
    'GraphQL: operations of one request, where GRAPHQL_BATCHING accepts several',
    '10',
  ),
  persistedQueriesMaxLength: setting(
    positiveSetting,
    'GraphQL: characters of automatic persisted queries that are kept; the least used are forgotten first',
    '4000000',
  ),
  registeredOperationsOnly: setting(
    flagSetting,
    'GraphQL: answer only the documents of REGISTERED_OPERATIONS',
    'false',
  ),
  registeredOperations: setting(
    z.string().min(1).optional(),
    'a .graphql file or a folder of them; unset: the schema/operations that comes with the gateway',
  ),
  anyOperationRoles: setting(
    rolesSetting,
    'roles that may send any document all the same, separated by commas; empty: none',
    'admin',
  ),
  introspectionRoles: setting(
    rolesSetting,
    'roles that may introspect the schema, separated by commas; *: every signed-in caller',
    '*',
  ),
  federation: setting(flagSetting, 'GraphQL: be a subgraph of a supergraph (Apollo Federation 2)', 'false'),
} as const;
