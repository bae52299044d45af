/** The settings of GraphQL: page sizes, limits of a document, which documents are answered. */
import { z } from 'zod';
import { flagSetting, positiveSetting, rolesSetting, setting } from '../../base/settings.js';

export const GRAPHQL_SETTINGS = {
  defaultPageSize: setting(
    'DEFAULT_PAGE_SIZE',
    positiveSetting,
    'GraphQL: records of a page when `first` is not given',
    '50',
  ),
  maxPageSize: setting('MAX_PAGE_SIZE', positiveSetting, 'GraphQL: largest `first`', '1000'),
  graphqlMaxDepth: setting(
    'GRAPHQL_MAX_DEPTH',
    positiveSetting,
    'GraphQL: deepest nesting of a document',
    '12',
  ),
  graphqlMaxCost: setting(
    'GRAPHQL_MAX_COST',
    positiveSetting,
    'GraphQL: highest cost of an operation, counted by page sizes',
    '10000',
  ),
  graphqlMaxRootFields: setting(
    'GRAPHQL_MAX_ROOT_FIELDS',
    positiveSetting,
    'GraphQL: root fields and aliases of a document',
    '15',
  ),
  graphqlMaxTokens: setting(
    'GRAPHQL_MAX_TOKENS',
    positiveSetting,
    'GraphQL: tokens of a document; the largest introspection query has some 500',
    '5000',
  ),
  graphqlMaxDirectives: setting(
    'GRAPHQL_MAX_DIRECTIVES',
    positiveSetting,
    'GraphQL: directives of a document',
    '50',
  ),
  graphqlBatching: setting(
    'GRAPHQL_BATCHING',
    flagSetting,
    'GraphQL: accept an array of operations in one request',
    'false',
  ),
  graphqlMaxBatch: setting(
    'GRAPHQL_MAX_BATCH',
    positiveSetting,
    'GraphQL: operations of one request, where GRAPHQL_BATCHING accepts several',
    '10',
  ),
  persistedQueriesMaxLength: setting(
    'PERSISTED_QUERIES_MAX_LENGTH',
    positiveSetting,
    'GraphQL: characters of automatic persisted queries that are kept; the least used are forgotten first',
    '4000000',
  ),
  registeredOperationsOnly: setting(
    'REGISTERED_OPERATIONS_ONLY',
    flagSetting,
    'GraphQL: answer only the documents of REGISTERED_OPERATIONS',
    'false',
  ),
  registeredOperations: setting(
    'REGISTERED_OPERATIONS',
    z.string().min(1).optional(),
    'a .graphql file or a folder of them; unset: the schema/operations that comes with the gateway',
  ),
  anyOperationRoles: setting(
    'ANY_OPERATION_ROLES',
    rolesSetting,
    'roles that may send any document all the same, separated by commas; empty: none',
    'admin',
  ),
  introspectionRoles: setting(
    'INTROSPECTION_ROLES',
    rolesSetting,
    'roles that may introspect the schema, separated by commas; *: every signed-in caller',
    '*',
  ),
  federation: setting(
    'FEDERATION',
    flagSetting,
    'GraphQL: be a subgraph of a supergraph (Apollo Federation 2)',
    'false',
  ),
} as const;
