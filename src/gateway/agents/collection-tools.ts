/** Tools beyond the library's operations: describe and search any collection. */
import { invalidAt } from '../../base/errors.js';
import type { Collection } from '../../base/model/collection.js';
import type { Scope } from '../../base/model/scope.js';
import { findAccess } from '../../store/access/access.js';
import { describeArguments, describeData } from '../resolvers/argument-schema.js';
import type { AgentTool, ToolSources } from './agent-tool.js';

/** The present collections. */
export interface KnownCollections {
  find(name: string): Collection | undefined;
}

/** Without a filter the document has no filter variable either: an empty one would be refused. */
function searchDocument(filter: 'filtered' | 'unfiltered'): string {
  const isFiltered = filter === 'filtered';
  return `query SearchRecords(
  $collection: String!
  ${isFiltered ? '$where: JSON' : ''}
  $project: [String!]
  $orderBy: [OrderByInput!]
  $first: Int = 20
  $after: String
) {
  records(
    collection: $collection
    ${isFiltered ? 'where: $where' : ''}
    project: $project
    orderBy: $orderBy
    first: $first
    after: $after
  ) {
    totalCount
    nodes {
      id
      version
      data
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}`;
}

export const DESCRIBE_COLLECTION = `query DescribeCollection($collection: String!) {
  collection(name: $collection) {
    name
    title
    description
    labelField
    singular
    plural
    fields {
      ...Described
      fields {
        ...Described
      }
    }
  }
}
fragment Described on CollectionField {
  name
  type
  description
  isList
  isRequired
  isUnique
  isIndexed
  allowed
  targets
  unit
  example
  deprecated
}`;

export const LIST_COLLECTIONS = `query ListCollections {
  collections {
    name
    title
    description
    labelField
  }
}`;

/** Tools to search by label or `where`, and to describe the fields for `where`. */
export function createCollectionTools(
  collections: KnownCollections,
  { prepare, maxRows }: ToolSources,
): readonly AgentTool[] {
  const search = prepare(searchDocument('filtered'));
  const schema = describeArguments(search, maxRows);
  const describe = prepare(DESCRIBE_COLLECTION);
  return [
    {
      name: 'search-records',
      title: 'Search the records of a collection',
      description:
        'Records of any collection as they are stored: those whose label (a name, a number) contains a ' +
        'text, those that a structured filter describes, or both. describe-collection lists the fields.',
      operation: search.operation,
      inputSchema: {
        ...schema,
        required: ['collection'],
        properties: {
          ...schema.properties,
          label: { type: 'string', description: 'A part of the label of the records, in any case.' },
        },
      },
      outputSchema: describeData(search),
      examples: () => ({ collection: 'registration', label: 'sharma' }),
      toRequest: ({ label, where, ...sent }, scope) => {
        const filter = filterOf({ ...sent, label, where }, scope, collections);
        return filter === undefined
          ? { document: searchDocument('unfiltered'), variables: sent }
          : { document: searchDocument('filtered'), variables: { ...sent, where: filter } };
      },
    },
    {
      name: 'describe-collection',
      title: 'Describe a collection',
      description:
        'What a record of a collection is, and its fields: stored names, types, allowed values, what ' +
        'references point to. The collections are listed by what-there-is.',
      operation: describe.operation,
      inputSchema: describeArguments(describe, maxRows),
      outputSchema: describeData(describe),
      examples: () => ({ collection: 'registration' }),
      toRequest: (sent) => ({ document: DESCRIBE_COLLECTION, variables: { ...sent } }),
    },
  ];
}

/**
 * The structured filter of a search; `undefined` if there is none. The search itself refuses a collection
 * that the caller may not read.
 *
 * @throws INVALID_VALUE for a collection whose records have no label, or none that the caller may read
 */
function filterOf(
  { collection: name, where, label }: Readonly<Record<string, unknown>>,
  scope: Scope,
  collections: KnownCollections,
): unknown {
  const collection = typeof name === 'string' ? collections.find(name) : undefined;
  const access = collection && findAccess(scope, collection, 'read');
  if (label === undefined || label === null || !collection || !access) return where ?? undefined;
  const { labelField } = collection;
  if (labelField === undefined || access.hiddenFields.has(labelField)) {
    const detail = `The records of ${collection.name} have no label; look for them by where.`;
    throw invalidAt(detail, { parameter: 'label' });
  }
  const condition = { [labelField]: { contains: label, mode: 'insensitive' } };
  return where === undefined || where === null ? condition : { and: [condition, where] };
}
