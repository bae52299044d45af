/** The records that refer to a record: the first ones of each referring field of each collection. */
import { Card, SimpleGrid, Stack, Text } from '@mantine/core';
import { ReferringRecords } from '../../../generated/portal/records/record';
import { ReferringFields, type ReferringFieldsQuery } from '../../../generated/portal/records/records';
import { useOperation, useViewer } from '../gateway/use-gateway';
import { say, t } from '../language/texts';
import { EmptyState, LoadingState, ProblemState } from '../shell/states';
import { TextLink } from '../shell/text-button';
import { escapeValue } from './filter-conditions';
import {
  isReferenceValue,
  sayFieldName,
  stateFieldsOf,
  VoidState,
  valueText,
  voidStateOf,
} from './use-declared-collection';

export interface RecordReferencesProps {
  readonly collection: string;
  readonly id: string;
  /** The fields of the record. */
  readonly values: Values;
}

type Values = Readonly<Record<string, unknown>>;

const SHOWN = 5;
/** The fields to read of the referring records. Fewer of them are shown. */
const ASKED_FIELDS = 12;
const DESCRIBED_VALUES = 4;

export function RecordReferences({ collection, id, values }: RecordReferencesProps) {
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
    .flatMap((from) =>
      from.fields
        .filter(({ targets }) => targets.includes(collection))
        .map((field) => ({ from, field: field.name })),
    );
  if (referring.length === 0) {
    return <EmptyState icon="link" title={t('No other records link to this collection')} />;
  }
  return (
    <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} component="ul" className="plain-list">
      {referring.map(({ from, field }) => (
        <Referring key={`${from.name} ${field}`} {...{ from, field, id, values }} />
      ))}
    </SimpleGrid>
  );
}

interface ReferringProps {
  readonly from: ReferringFieldsQuery['collections'][number];
  readonly field: string;
  readonly id: string;
  readonly values: Values;
}

function Referring({ from, field, id, values }: ReferringProps) {
  const describe = useDescription(from, values);
  const oquery = `${field}.value=${escapeValue(id)}`;
  const asked = [
    ...new Set([...fieldsToDescribe(from), ...stateFieldsOf(from.fields)].map(({ name }) => name)),
  ];
  const { data, error } = useOperation(ReferringRecords, {
    collection: from.name,
    oquery,
    project: asked.length === 0 ? [field] : asked,
  });
  const nodes = data?.records.nodes ?? [];
  return (
    <Card component="li" withBorder padding="md">
      <Stack gap={6} w="100%">
        <Text fw={600} size="md">
          {say(from.title)} · {sayFieldName(field)}
        </Text>
        {error && <ProblemState problem={error} />}
        {!data && !error && <LoadingState rows={2} />}
        {data && nodes.length === 0 && <Text c="dimmed">{t('None')}</Text>}
        {nodes.slice(0, SHOWN).map((node) => (
          <TextLink
            key={node.id}
            lineClamp={2}
            to={`/portal/records/${from.name}/${encodeURIComponent(node.id)}`}
          >
            <span className={voidStateOf(from.fields, node.data) && 'void'}>
              {describe(node.data as Values) || node.id}
            </span>
            <VoidState fields={from.fields} data={node.data} />
          </TextLink>
        ))}
        {nodes.length > 0 && (
          <TextLink fw={600} to={`/portal/records/${from.name}`} search={{ oquery }}>
            {t('Show all in {collection}', { collection: say(from.title) })}
          </TextLink>
        )}
      </Stack>
    </Card>
  );
}

/** The label first, then money, then the rest. Fields with parts do not fit into a line. */
function fieldsToDescribe({ labelField, fields }: ReferringProps['from']) {
  const rank = ({ name, unit }: (typeof fields)[number]) => {
    if (name === labelField) return 0;
    return unit !== null && /^[A-Z]{3}$/.test(unit) ? 1 : 2;
  };
  const plain = fields.filter(({ type, isList }) => type !== 'object' && !isList);
  return plain.toSorted((one, other) => rank(one) - rank(other)).slice(0, ASKED_FIELDS);
}

/** Describes a referring record in a line, without the values that it shares with the record. */
function useDescription(from: ReferringProps['from'], values: Values): (data: Values) => string {
  const known = new Set(Object.values(values));
  return (data) => {
    const states = stateFieldsOf(from.fields);
    const unusual = states.filter(
      (field) => data[field.name] !== field.default && field !== voidStateOf(from.fields, data),
    );
    const described = fieldsToDescribe(from).filter(
      (field) =>
        !states.includes(field) && !known.has(data[field.name]) && !isReferenceValue(data[field.name]),
    );
    const textsOf = (fields: typeof states) =>
      fields.map((field) => valueText(data[field.name], field, data)).filter((text) => text !== '');
    return [...textsOf(unusual), ...textsOf(described).slice(0, DESCRIBED_VALUES)].join(' · ');
  };
}
