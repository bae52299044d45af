import { LabelFields } from '../../../generated/portal/shell/record-labels';
import { useOperation } from '../gateway/use-operation';
import { useRecordLabels } from '../shell/use-record-labels';
import { useViewer } from '../shell/viewer';
import { type DeclaredField, isReferenceValue } from './declared-field';

interface Reference {
  readonly field: DeclaredField;
  readonly value: unknown;
}

/**
 * Returns the collection of the record that a reference leads to: of several possible ones, the one that has
 * the record. `undefined` if that is unknown, or the viewer may not read it. `asked` are the references that
 * may be passed.
 */
export function useReferenceTarget(
  asked: readonly Reference[],
): (reference: Reference) => string | undefined {
  const { collections } = useViewer();
  const open = asked.filter(({ field, value }) => isReferenceValue(value) && !declaredTarget(field, value));
  const { data } = useOperation(LabelFields, {}, { isEnabled: open.length > 0 });
  const labelFields = new Map(data?.collections.map(({ name, labelField }) => [name, labelField ?? '']));
  const names = [...new Set(open.flatMap(({ field }) => field.targets))];
  const labelOf = useRecordLabels(
    names.map((collection) => ({
      collection,
      field: labelFields.get(collection) ?? '',
      ids: open.flatMap(({ field, value }) =>
        field.targets.includes(collection) && isReferenceValue(value) ? [value.value] : [],
      ),
    })),
  );
  return ({ field, value }) => {
    if (!isReferenceValue(value)) return undefined;
    const target =
      declaredTarget(field, value) ?? field.targets.find((name) => labelOf(name, value.value) !== undefined);
    return collections.some(({ name, canRead }) => name === target && canRead) ? target : undefined;
  };
}

function declaredTarget({ targets }: DeclaredField, value: unknown): string | undefined {
  if (isReferenceValue(value) && value.collection !== undefined) return value.collection;
  return targets.length === 1 ? targets[0] : undefined;
}
