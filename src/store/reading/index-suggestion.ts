/** Suggests a declared index that would serve a statement, based on the plan Postgres chose without one. */

import type { Collection, Field } from '../../base/model/collection.js';
import type { Path } from '../../base/model/path.js';
import { findValue } from '../database/declared-indexes.js';
import { partitionName } from '../database/partitions.js';
import type { StatementPlan } from '../database/statement-plan.js';

export interface IndexSuggestion {
  readonly collection: string;
  /**
   * The entry for its declaration, e.g. `"indexes": [["class", "created"]]`, or `"index": true on the field
   * class`.
   */
  readonly declaration: string;
}

/** A wider index would amount to a table of its own. */
const MAX_PATHS = 3;

/** At most one per collection; none if every path is served, or cannot be. */
export function suggestIndexes(
  plan: Pick<StatementPlan, 'scans' | 'sortKeys'>,
  collections: readonly Collection[],
): readonly IndexSuggestion[] {
  const [first] = plan.scans;
  return collections.flatMap((collection): readonly IndexSuggestion[] => {
    const table = partitionName(collection.name);
    const scans = plan.scans.filter((scan) => scan.table === table);
    if (scans.length === 0) return [];
    const filtered = pathsIn(scans.map(({ filter }) => filter).join(' '), collection);
    const asked = pathsIn(scans.map(({ condition }) => condition).join(' '), collection);
    // The sort keys are those of the outermost table.
    const sortKeys = plan.sortKeys.filter((key) => PLAIN_SORT_KEY.test(key));
    const sorted = first?.table === table ? pathsIn(sortKeys.join(' '), collection) : NONE;
    const declaration = declarationFor({ filtered, asked, sorted });
    return declaration === undefined ? [] : [{ collection: collection.name, declaration }];
  });
}

interface ComparedPaths {
  /** Paths compared by whole values, which a b-tree serves. */
  readonly values: readonly DeclaredPath[];
  /** Paths compared by a part of their text, which trigrams serve. */
  readonly texts: readonly DeclaredPath[];
}

interface DeclaredPath {
  /** The name in `indexes`, e.g. `student.value`. */
  readonly name: string;
  readonly field: Field;
  readonly isTopLevel: boolean;
}

const NONE: ComparedPaths = { values: [], texts: [] };

/** `filtered` paths are tested row by row, `asked` by an existing index, and `sorted` afterwards. */
function declarationFor(paths: {
  readonly filtered: ComparedPaths;
  readonly asked: ComparedPaths;
  readonly sorted: ComparedPaths;
}): string | undefined {
  const { filtered, asked, sorted } = paths;
  const text = filtered.texts.find(({ field, isTopLevel }) => isTopLevel && !field.isSearchable);
  if (text) return `"searchable": true on the field ${text.field.name}`;
  if (filtered.values.length + sorted.values.length === 0) return undefined;
  const all = [...filtered.values, ...asked.values, ...sorted.values];
  const names = [...new Set(all.map(({ name }) => name))].slice(0, MAX_PATHS);
  if (names.length > 1) return `"indexes": [${JSON.stringify(names).replaceAll(',', ', ')}]`;
  const [only] = all;
  if (!only?.isTopLevel || only.field.isIndexed || only.field.isUnique) return undefined;
  return `"index": true on the field ${only.field.name}`;
}

/**
 * `(data -> 'student'::text) -> 'value'::text`, as Postgres prints a path; the last step to a text is `->>`.
 */
const STEPS = /data(?:\)*\s*->>?\s*'(?:[^']|'')*'::text)+\)*(\s*(?:~~\*?|!~~\*?)\s)?/g;
/** A stored value; no index has the order of a computed one, e.g. of groups. */
const PLAIN_SORT_KEY =
  /^\(*(?:\w+\.)?data(?:\)*\s*->>?\s*'(?:[^']|'')*'::text)+\)*(?: (?:DESC|ASC|NULLS|FIRST|LAST))*$/;
const STEP = /->>?\s*'((?:[^']|'')*)'::text/g;

function pathsIn(expression: string, collection: Collection): ComparedPaths {
  const values: DeclaredPath[] = [];
  const texts: DeclaredPath[] = [];
  for (const [steps, pattern] of expression.matchAll(STEPS)) {
    const path = [...steps.matchAll(STEP)].map(([, name = '']) => name.replaceAll("''", "'"));
    const declared = findDeclared(path, collection);
    if (declared) (pattern === undefined ? values : texts).push(declared);
  }
  return { values, texts };
}

/** Lists, their contents and undeclared fields are served by the index over whole documents. */
function findDeclared(path: Path, { fields }: Collection): DeclaredPath | undefined {
  const found = findValue(fields, path);
  return (
    found && {
      name: path.join('.'),
      field: found.field,
      isTopLevel: path.length - found.members.length === 1,
    }
  );
}
