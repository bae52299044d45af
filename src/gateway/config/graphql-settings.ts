/** The settings of GraphQL: page sizes, limits of a document, which documents are answered. */
import { z } from 'zod';
import { flagSetting, positiveSetting, rolesSetting } from '../../base/settings.js';

export const GRAPHQL_SETTINGS = {
  defaultPageSize: {
    variable: 'DEFAULT_PAGE_SIZE',
    default: '50',
    schema: positiveSetting,
    meaning: 'GraphQL: records of a page when `first` is not given',
  },
  maxPageSize: {
    variable: 'MAX_PAGE_SIZE',
    default: '1000',
    schema: positiveSetting,
    meaning: 'GraphQL: largest `first`',
  },
  graphqlMaxDepth: {
    variable: 'GRAPHQL_MAX_DEPTH',
    default: '12',
    schema: positiveSetting,
    meaning: 'GraphQL: deepest nesting of a document',
  },
  graphqlMaxCost: {
    variable: 'GRAPHQL_MAX_COST',
    default: '10000',
    schema: positiveSetting,
    meaning: 'GraphQL: highest cost of an operation, counted by page sizes',
  },
  graphqlMaxRootFields: {
    variable: 'GRAPHQL_MAX_ROOT_FIELDS',
    default: '15',
    schema: positiveSetting,
    meaning: 'GraphQL: root fields and aliases of a document',
  },
  graphqlMaxTokens: {
    variable: 'GRAPHQL_MAX_TOKENS',
    default: '5000',
    schema: positiveSetting,
    meaning: 'GraphQL: tokens of a document; the largest introspection query has some 500',
  },
  graphqlMaxDirectives: {
    variable: 'GRAPHQL_MAX_DIRECTIVES',
    default: '50',
    schema: positiveSetting,
    meaning: 'GraphQL: directives of a document',
  },
  graphqlBatching: {
    variable: 'GRAPHQL_BATCHING',
    default: 'false',
    schema: flagSetting,
    meaning: 'GraphQL: accept an array of operations in one request',
  },
  graphqlMaxBatch: {
    variable: 'GRAPHQL_MAX_BATCH',
    default: '10',
    schema: positiveSetting,
    meaning: 'GraphQL: operations of one request, where GRAPHQL_BATCHING accepts several',
  },
  persistedQueriesMaxLength: {
    variable: 'PERSISTED_QUERIES_MAX_LENGTH',
    default: '4000000',
    schema: positiveSetting,
    meaning:
      'GraphQL: characters of automatic persisted queries that are kept; the least used are forgotten first',
  },
  registeredOperationsOnly: {
    variable: 'REGISTERED_OPERATIONS_ONLY',
    default: 'false',
    schema: flagSetting,
    meaning: 'GraphQL: answer only the documents of REGISTERED_OPERATIONS',
  },
  registeredOperations: {
    variable: 'REGISTERED_OPERATIONS',
    schema: z.string().min(1).optional(),
    meaning: 'a .graphql file or a folder of them; unset: the schema/operations that comes with the gateway',
  },
  anyOperationRoles: {
    variable: 'ANY_OPERATION_ROLES',
    default: 'admin',
    schema: rolesSetting,
    meaning: 'roles that may send any document all the same, separated by commas; empty: none',
  },
  introspectionRoles: {
    variable: 'INTROSPECTION_ROLES',
    default: '*',
    schema: rolesSetting,
    meaning: 'roles that may introspect the schema, separated by commas; *: every signed-in caller',
  },
  federation: {
    variable: 'FEDERATION',
    default: 'false',
    schema: flagSetting,
    meaning: 'GraphQL: be a subgraph of a supergraph (Apollo Federation 2)',
  },
} as const;
