/** GraphQL types for the dry run of a declaration, and for undeclared fields of records. */

import type { ErrorDetail } from '../../../base/errors.js';
import type { JsonValue } from '../../../base/json/json.js';
import { member, nullable, objectType, type ValueOf } from '../../../base/scalars/declared-type.js';
import type { CollectionTrial } from '../../../store/catalog/catalog.js';
import type { DefinitionChange } from '../../../store/catalog/definition-changes.js';
import { FieldChangeKind } from '../records/history-resolver.js';

const DefinitionChangeResult = objectType(
  'DefinitionChange',
  'A difference in a part of the declaration of a collection.',
  {
    pointer: member.text('The part, e.g. "/title" or "/fields/motto".'),
    kind: member.of(FieldChangeKind, 'What happens to it.'),
    before: nullable.json('The current value.'),
    after: nullable.json('The new value.'),
  },
);

const DefinitionFaultResult = objectType('DefinitionFault', 'Why a declaration is rejected.', {
  pointer: nullable.text('The part, e.g. "/fields/motto".'),
  detail: member.text('The reason, and how to correct it.'),
});
type DefinitionFaultResult = ValueOf<typeof DefinitionFaultResult>;

export const CollectionTrialResult = objectType(
  'CollectionTrial',
  'The effect of registering or altering a collection.',
  {
    name: member.text('The name of the collection.'),
    isNew: member.flag('Whether it would be registered; false: altered.'),
    changes: member.list(
      DefinitionChangeResult,
      'The differences from the current declaration; for a new collection the whole ' + 'declaration.',
    ),
    faults: member.list(DefinitionFaultResult, 'Why it is rejected. Empty if it is accepted.'),
    useFaults: member.list(
      DefinitionFaultResult,
      'Removed fields that operations of the last 30 days use. The change is rejected ' +
        'unless `dropUsedFields` is set.',
    ),
  },
);
export type CollectionTrialResult = ValueOf<typeof CollectionTrialResult>;

const KINDS: Readonly<Record<DefinitionChange['kind'], FieldChangeKind>> = {
  added: FieldChangeKind.ADDED,
  removed: FieldChangeKind.REMOVED,
  changed: FieldChangeKind.CHANGED,
};

export function toTrialResult(trial: CollectionTrial): CollectionTrialResult {
  return {
    name: trial.name,
    isNew: trial.isNew,
    changes: trial.changes.map((change) => ({
      pointer: change.pointer,
      kind: KINDS[change.kind],
      before: change.before as JsonValue | undefined,
      after: change.after as JsonValue | undefined,
    })),
    faults: trial.faults.map(toFaultResult),
    useFaults: trial.useFaults.map(toFaultResult),
  };
}

function toFaultResult({ pointer, detail }: ErrorDetail): DefinitionFaultResult {
  return { pointer, detail };
}

const UndeclaredFieldResult = objectType(
  'UndeclaredField',
  'A field that records have and their collection does not declare.',
  {
    name: member.text('Its stored name; cut after 200 characters.'),
    types: member.texts('What JSON calls its values, e.g. "string", "number" and "null".'),
    recordCount: member.whole('The number of records in the sample that have it.'),
  },
);

export const UndeclaredFieldsResult = objectType(
  'UndeclaredFields',
  'The undeclared fields found in a sample of records.',
  {
    sampledCount: member.whole('The number of records in the sample, at most a thousand.'),
    fields: member.list(UndeclaredFieldResult, 'The most frequent first, a hundred at most.'),
  },
);
