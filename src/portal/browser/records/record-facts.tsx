/** The main fields of a record above its tabs. They stay visible on every tab. */
import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useFormats } from '../language/use-formats';
import { useTexts } from '../language/use-texts';
import { FactStrip } from '../shell/fact-strip';
import { StateTag } from '../shell/state-tag';
import { type DeclaredCollection, type DeclaredField, isReferenceValue } from './declared-field';
import { mainFieldsOf } from './main-fields';
import type { EditedRecord } from './record-editor';
import { useReferenceTarget } from './reference-link';
import { useValueText } from './use-allowed-words';
import { useFieldNames } from './use-declared-collection';

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
    (field) => [nameOf(field.name), <FactValue key={field.name} field={field} data={data} />] as const,
  );
  return <FactStrip facts={[...said, [t('Last changed'), formats.instant(record.updatedAt)]]} />;
}

interface FactValueProps {
  readonly field: DeclaredField;
  readonly data: Readonly<Record<string, unknown>>;
}

function FactValue({ field, data }: FactValueProps) {
  const value = data[field.name];
  const valueText = useValueText();
  const target = useReferenceTarget([{ field, value }])({ field, value });
  const text = valueText(value, field, data);
  if (field.name === 'status') return <StateTag state={String(value)}>{text}</StateTag>;
  if (!isReferenceValue(value)) return text;
  if (target === undefined) return text;
  return (
    <Anchor component={Link} to={`/portal/records/${target}/${encodeURIComponent(value.value)}`} size="sm">
      {text}
    </Anchor>
  );
}
