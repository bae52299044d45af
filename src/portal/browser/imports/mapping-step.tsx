/**
 * The second step: the proposed field of each column, which can be corrected, and the options for writing
 * rows.
 */
import { Alert, Button, Group, NativeSelect, Stack, Text, TextInput, Title } from '@mantine/core';
import { useMemo, useState } from 'react';
import {
  ChangeImport,
  ImportFields,
  ImportNow,
  SavedMappings,
  type ShownImportFragment,
  TryImport,
} from '../../../generated/portal/imports/imports';
import { useChange, useOperation } from '../gateway/use-gateway';
import { ProblemWords } from '../language/problem-words';
import { useTexts } from '../language/use-texts';
import { useFieldNames } from '../records/use-declared-collection';
import { useDraft } from '../records/use-draft';
import { GatewayProblem } from '../session/gateway-problem';
import { Icon, WarningNotice } from '../shell/icon';
import { LoadingState, ProblemState } from '../shell/states';
import { ColumnCard } from './column-card';
import { columnChoices } from './column-choices';
import { FixedValues } from './fixed-values';
import {
  type Inspection,
  type MappedColumn,
  type Mapping,
  withParts,
  withSavedMapping,
} from './import-steps';
import { type ChosenOptions, OptionFields } from './option-fields';

export interface MappingStepProps {
  readonly one: ShownImportFragment;
  onTried(): void;
}

/** The rest is rendered on request, because a file may have 2,000 columns. */
const COLUMNS_AT_ONCE = 100;

export function MappingStep({ one, onTried }: MappingStepProps) {
  const t = useTexts();
  const nameOf = useFieldNames();
  const { data, error, refetch } = useOperation(ImportFields, {});
  const saved = useOperation(SavedMappings, { collection: one.collection });
  const [draft, keepDraft] = useDraft(`import:${one.id}`);
  const [saveAs, setSaveAs] = useState('');
  const [shown, setShown] = useState(COLUMNS_AT_ONCE);
  const change = useChange(ChangeImport, [SavedMappings]);
  const begin = useChange(TryImport, [ImportNow]);
  const mapping = (draft.mapping ?? one.mapping) as Mapping;
  const options: ChosenOptions = { mode: one.mode, by: one.by, missing: one.missing, triggers: one.triggers };
  const chosen = (draft.options ?? options) as ChosenOptions;
  const collection = data?.collections.find(({ name }) => name === one.collection);
  const choices = useMemo(
    () => (collection && data ? columnChoices(collection, data.collections, nameOf) : []),
    [collection, data, nameOf],
  );
  if (error) return <ProblemState problem={error} retry={() => void refetch()} />;
  if (!collection) return <LoadingState />;
  const inspection = one.inspection as Inspection;
  const found = new Map(inspection.found?.map((column) => [column.column, column]));
  const keep = (next: Mapping) => keepDraft({ ...draft, mapping: next });
  const setColumn = (index: number, next: MappedColumn) =>
    keep({ ...mapping, columns: mapping.columns.with(index, next) });
  const taken = new Set(mapping.columns.map(({ field }) => field));
  const isDocuments = inspection.columns === undefined;
  const left = collection.fields.filter(
    ({ name, isRequired }) =>
      isRequired && !isDocuments && !(name in mapping.fixed) && ![...taken].some((path) => isAt(path, name)),
  );
  const submit = async () => {
    await change.mutateAsync({
      id: one.id,
      mapping,
      options: { ...chosen, triggers: [...chosen.triggers] },
      ...(saveAs !== '' && { saveAs }),
    });
    await begin.mutateAsync({ id: one.id });
    keepDraft({});
    onTried();
  };
  const problem = change.error ?? begin.error;
  return (
    <Stack gap="lg">
      <Warnings warnings={inspection.warnings} />
      {saved.data && saved.data.importMappings.length > 0 && (
        <NativeSelect
          label={t('Use a saved mapping')}
          data={['', ...saved.data.importMappings.map(({ name }) => name)]}
          value=""
          onChange={(event) => {
            const name = event.currentTarget.value;
            const picked = saved.data?.importMappings.find((mapped) => mapped.name === name);
            if (picked) keep(withSavedMapping(mapping, picked.mapping as Mapping));
          }}
          maw={420}
        />
      )}
      {isDocuments ? (
        <Alert icon={<Icon name="file" />}>{t('Members go to the fields with the same names.')}</Alert>
      ) : (
        <Stack component="ul" className="plain-list" gap="sm">
          {mapping.columns.slice(0, shown).map((column, index) => (
            <ColumnCard
              key={`${column.column} ${column.part?.number ?? ''}`}
              column={column}
              found={found.get(column.column)}
              {...{ choices, taken }}
              onChange={(next) => setColumn(index, next)}
              onPart={(separator) => keep(withParts(mapping, column.column, separator))}
            />
          ))}
        </Stack>
      )}
      {mapping.columns.length > shown && (
        <Button variant="default" onClick={() => setShown(shown + COLUMNS_AT_ONCE)}>
          {t('More columns')}
        </Button>
      )}
      {left.length > 0 && (
        <WarningNotice title={t('Required, but not in any column')}>
          {left.map(({ name }) => nameOf(name)).join(', ')}
        </WarningNotice>
      )}
      <FixedValues
        {...{ choices, taken }}
        fixed={mapping.fixed}
        onChange={(fixed) => keep({ ...mapping, fixed })}
      />
      <OptionFields
        options={chosen}
        collection={collection}
        onChange={(next) => keepDraft({ ...draft, options: next })}
      />
      <section>
        <Title order={2} size="h4" mb="xs">
          {t('For the next file like this one')}
        </Title>
        <TextInput
          label={t('Save this mapping as')}
          value={saveAs}
          onChange={(event) => setSaveAs(event.currentTarget.value)}
          maxLength={100}
          maw={420}
        />
      </section>
      {problem && <MappingProblem problem={problem} />}
      <Group>
        <Button
          loading={change.isPending || begin.isPending}
          onClick={() => void submit().catch(() => undefined)}
        >
          {t('Start dry run')}
        </Button>
        <Text size="sm" c="dimmed">
          {t('A dry run saves nothing. It shows what would happen to every row.')}
        </Text>
      </Group>
    </Stack>
  );
}

/** Whether a path of the mapping sets a field or a part of it. */
function isAt(path: string | null, field: string): boolean {
  return path === field || path?.startsWith(`${field}.`) === true;
}

function Warnings({ warnings }: { readonly warnings: readonly string[] }) {
  const t = useTexts();
  if (warnings.length === 0) return null;
  return (
    <WarningNotice title={t('Seen in the file')}>
      <ul className="plain-list">
        {warnings.map((warning) => (
          <li key={warning} className="wrapped">
            <ProblemWords text={warning} />
          </li>
        ))}
      </ul>
    </WarningNotice>
  );
}

/** Shows all faults of a mapping at once. */
function MappingProblem({ problem }: { readonly problem: Error }) {
  const errors = problem instanceof GatewayProblem ? problem.extensions.errors : undefined;
  const details = Array.isArray(errors) ? (errors as readonly { readonly detail?: string }[]) : [];
  return (
    <Stack gap="xs">
      <ProblemState problem={problem} />
      {details.length > 1 && (
        <ul>
          {details.map(({ detail }) => (
            <li key={detail} className="wrapped">
              {detail}
            </li>
          ))}
        </ul>
      )}
    </Stack>
  );
}
