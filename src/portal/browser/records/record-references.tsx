/** What points to a record: by each field of each collection that may, the first few. */
import { Anchor, Card, SimpleGrid, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { ReferringFields, ReferringRecords } from '../../../generated/portal/records/record';
import { useOperation } from '../gateway/use-operation';
import { useTexts } from '../language/use-texts';
import { EmptyState, LoadingState, ProblemState } from '../shell/states';
import { useViewer } from '../shell/viewer';
import { nameOfField } from './declared-field';
import { escapeValue } from './filter-conditions';

export interface RecordReferencesProps {
  readonly collection: string;
  readonly id: string;
}

const SHOWN = 5;

export function RecordReferences({ collection, id }: RecordReferencesProps) {
  const t = useTexts();
  const { data, error, refetch } = useOperation(ReferringFields, {});
  const readable = new Set(
    useViewer()
      .collections.filter(({ canRead }) => canRead)
      .map(({ name }) => name),
  );
  if (error) return <ProblemState problem={error} retry={() => void refetch()} />;
  if (!data) return <LoadingState />;
  const referring = data.collections
    .filter(({ name }) => readable.has(name))
    .flatMap(({ fields, ...from }) =>
      fields
        .filter(({ targets }) => targets.includes(collection))
        .map((field) => ({ from, field: field.name })),
    );
  if (referring.length === 0) {
    return <EmptyState icon="link" title={t('No collection points to records of this one')} />;
  }
  return (
    <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} component="ul" className="plain-list">
      {referring.map(({ from, field }) => (
        <Referring key={`${from.name} ${field}`} from={from} field={field} id={id} />
      ))}
    </SimpleGrid>
  );
}

interface ReferringProps {
  readonly from: { readonly name: string; readonly title: string; readonly labelField: string | null };
  readonly field: string;
  readonly id: string;
}

function Referring({ from, field, id }: ReferringProps) {
  const t = useTexts();
  const oquery = `${field}.value=${escapeValue(id)}`;
  const label = from.labelField;
  const { data, error } = useOperation(ReferringRecords, {
    collection: from.name,
    oquery,
    project: label === null ? [field] : [label],
  });
  const nodes = data?.records.nodes ?? [];
  return (
    <Card component="li" withBorder padding="md">
      <Stack gap={6} w="100%">
        <Text fw={600}>
          {from.title} · {nameOfField(field)}
        </Text>
        {error && <ProblemState problem={error} />}
        {!data && !error && <LoadingState rows={2} />}
        {data && nodes.length === 0 && (
          <Text size="sm" c="dimmed">
            {t('None')}
          </Text>
        )}
        {nodes.slice(0, SHOWN).map((node) => (
          <Anchor
            key={node.id}
            component={Link}
            size="sm"
            to={`/portal/records/${from.name}/${encodeURIComponent(node.id)}`}
          >
            {labelOf(node.data, label) ?? node.id}
          </Anchor>
        ))}
        {nodes.length > 0 && (
          <Anchor
            component={Link}
            size="sm"
            fw={600}
            to={`/portal/records/${from.name}`}
            search={{ oquery } as never}
          >
            {t('Show all in {collection}', { collection: from.title })}
          </Anchor>
        )}
      </Stack>
    </Card>
  );
}

function labelOf(data: unknown, field: string | null): string | undefined {
  const value = field === null ? undefined : (data as Readonly<Record<string, unknown>>)[field];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}
