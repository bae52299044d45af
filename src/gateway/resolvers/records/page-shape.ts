/** Converts a document's selection on a record or a page into the shape that the database prints. */
import { type FieldNode, type GraphQLResolveInfo, getArgumentValues, isObjectType } from 'graphql';
import type { Path } from '../../../base/model/path.js';
import type { StoredRecord } from '../../../store/reading/stored-record.js';
import {
  type EdgeMember,
  listShapePaths,
  type Member,
  type PageInfoMember,
  type PageMember,
  type PageShape,
  type Shape,
} from '../../../store/sql/shape.js';
import { type PageSizes, toPageRequest } from '../page-arguments.js';
import { type SelectionInfo, selectedFields } from './selection.js';

/** Reads a selection on the records of one collection; the page types are named after the record type. */
export interface SelectedForm {
  readonly typeName: string;
  members(nodes: readonly FieldNode[], info: SelectionInfo): readonly Member[];
}

/** How GraphQL represents the records of one collection. */
export interface RecordForm<Node> extends SelectedForm {
  toNode(record: StoredRecord): Node;
}

/** The fields that a selection reads. */
interface ReadFields {
  readonly paths: readonly Path[];
  /** The selection includes all visible fields at once, as JSON. */
  readonly isWholeRecord: boolean;
  /** Everything selected of a record, anywhere in the page. */
  readonly members: readonly Member[];
}

/** A page with the fields that it reads. */
export interface SelectedPage extends PageShape {
  readonly reading: ReadFields;
}

/** The selected members of an object by the shapes of its fields; any other is `__typename`. */
export function selectedMembers(
  typeName: string,
  nodes: readonly FieldNode[],
  info: SelectionInfo,
  shapeOf: (name: string, nodes: readonly FieldNode[]) => Shape | undefined,
): readonly Member[] {
  return [...selectedFields(typeName, nodes, info)].map(([key, own]) => {
    return { key, shape: shapeOf(own[0]?.name.value ?? '', own) ?? { kind: 'constant', text: typeName } };
  });
}

export function toPageShape(form: SelectedForm, info: SelectionInfo): SelectedPage {
  const members: PageMember[] = [];
  for (const [key, nodes] of selectedFields(`${form.typeName}Connection`, info.fieldNodes, info)) {
    members.push({ key, ...pagePart(form, nodes, info) });
  }
  return { members, reading: readingOf(members) };
}

export function readingOf(page: readonly PageMember[]): ReadFields {
  const records = page.flatMap((member): readonly (readonly Member[])[] => {
    if (member.kind === 'records') return [member.members];
    if (member.kind !== 'edges') return [];
    return member.members.flatMap((edge) => (edge.kind === 'record' ? [edge.members] : []));
  });
  const members = records.flat();
  return { ...listShapePaths(members), members };
}

type Part<M> = M extends { readonly key: string } ? Omit<M, 'key'> : never;

function pagePart(form: SelectedForm, nodes: readonly FieldNode[], info: SelectionInfo): Part<PageMember> {
  switch (nodes[0]?.name.value) {
    case 'nodes':
      return { kind: 'records', members: form.members(nodes, info) };
    case 'edges':
      return { kind: 'edges', members: edgeMembers(form, nodes, info) };
    case 'pageInfo':
      return { kind: 'pageInfo', members: pageInfoMembers(nodes, info) };
    case 'totalCount':
      return { kind: 'count' };
    default:
      return { kind: 'constant', text: `${form.typeName}Connection` };
  }
}

function edgeMembers(
  form: SelectedForm,
  nodes: readonly FieldNode[],
  info: SelectionInfo,
): readonly EdgeMember[] {
  const typeName = `${form.typeName}Edge`;
  return [...selectedFields(typeName, nodes, info)].map(([key, fieldNodes]): EdgeMember => {
    switch (fieldNodes[0]?.name.value) {
      case 'node':
        return { key, kind: 'record', members: form.members(fieldNodes, info) };
      case 'cursor':
        return { key, kind: 'cursor' };
      default:
        return { key, kind: 'constant', text: typeName };
    }
  });
}

function pageInfoMembers(nodes: readonly FieldNode[], info: SelectionInfo): readonly PageInfoMember[] {
  return [...selectedFields('PageInfo', nodes, info)].map(([key, fieldNodes]): PageInfoMember => {
    const name = fieldNodes[0]?.name.value;
    switch (name) {
      case 'hasNextPage':
      case 'hasPreviousPage':
      case 'startCursor':
      case 'endCursor':
        return { key, kind: name };
      default:
        return { key, kind: 'constant', text: 'PageInfo' };
    }
  });
}

/**
 * The selection of a document on the records of a batch, and how many they are; 0: they are not selected. It
 * is inspected before the write, so that records are read only if selected, and a page that is too large is
 * refused before anything is written.
 *
 * @throws LIMIT_EXCEEDED, INVALID_VALUE
 */
export function selectedRecords(
  typeName: string,
  info: GraphQLResolveInfo,
  pages: PageSizes,
): { readonly nodes: readonly FieldNode[]; readonly count: number } {
  const type = info.schema.getType(typeName);
  const definition = isObjectType(type) ? type.getFields().records : undefined;
  if (!definition) throw new Error(`${typeName} is not a batch`);
  const nodes: FieldNode[] = [];
  let count = 0;
  for (const fieldNodes of selectedFields(typeName, info.fieldNodes, info).values()) {
    const [node] = fieldNodes;
    if (node?.name.value !== 'records') continue;
    const { first } = getArgumentValues(definition, node, info.variableValues);
    count = Math.max(count, shownCount(typeof first === 'number' ? first : undefined, pages));
    nodes.push(...fieldNodes);
  }
  return { nodes, count };
}

/** How many records `records(first:)` returns. @throws LIMIT_EXCEEDED, INVALID_VALUE */
export function shownCount(first: number | null | undefined, pages: PageSizes): number {
  return toPageRequest({ first: first ?? null }, pages).limit;
}
