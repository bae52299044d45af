/** The main fields of a record above its tabs. They stay visible on every tab. */
import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useFormats } from '../language/use-formats';
import { useTexts } from '../language/use-texts';
import { FactStrip } from '../shell/fact-strip';
import { StateTag } from '../shell/state-tag';
import { useViewer } from '../shell/viewer';
import type { DeclaredCollection } from './declared-collection';
import { type DeclaredField, isReferenceValue } from './declared-field';
import { mainFieldsOf } from './main-fields';
import type { EditedRecord } from './record-editor';
import { useFieldNames } from './use-field-names';
import { useValueText } from './use-value-text';

export interface RecordFactsProps {
  readonly collection: DeclaredCollection;
  readonly record: EditedRecord;
}

export function RecordFacts({ collection, record }: RecordFactsProps) {
  const t = useTexts();
  const formats = useFormats();
  const nameOf = useFieldNames();
  const data = record.data as Readonly<Record<string, unknown>>;
  const said = mainFieldsOf(collection, data).map(
    (field) =>
      [nameOf(field.name), <FactValue key={field.name} field={field} value={data[field.name]} />] as const,
  );
  return <FactStrip facts={[...said, [t('Last changed'), formats.instant(record.updatedAt)]]} />;
}

function FactValue({ field, value }: { readonly field: DeclaredField; readonly value: unknown }) {
  const valueText = useValueText();
  const { collections } = useViewer();
  const text = valueText(value, field);
  if (field.name === 'status') return <StateTag state={String(value)}>{text}</StateTag>;
  if (!isReferenceValue(value)) return text;
  const target = value.collection ?? (field.targets.length === 1 ? field.targets[0] : undefined);
  if (!collections.some(({ name, canRead }) => name === target && canRead)) return text;
  return (
    <Anchor component={Link} to={`/portal/records/${target}/${encodeURIComponent(value.value)}`} size="sm">
      {text}
    </Anchor>
  );
}
