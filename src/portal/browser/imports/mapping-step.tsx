/**
 * The second step: the proposed field of each column, which can be corrected, and the options for writing
 * rows.
 */
import { Alert, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import {
  ChangeImport,
  ImportFields,
  ImportNow,
  SavedMappings,
  type ShownImportFragment,
  TryImport,
} from '../../../generated/portal/imports/imports';
import { useChange, useOperation, useRights } from '../gateway/use-gateway';
import { ProblemList } from '../language/problem-words';
import { t } from '../language/texts';
import { sayAllowed, sayFieldName } from '../records/use-declared-collection';
import { useDraft } from '../records/use-draft';
import { GatewayProblem } from '../session/gateway-problem';
import { Icon, WarningNotice } from '../shell/icon';
import { LoadingState, ProblemState, TitledSection } from '../shell/states';
import { IconButton, TextButton } from '../shell/text-button';
import { CheckField, ChoiceField, TextField } from '../shell/text-field';
import {
  ColumnCard,
  type ColumnChoice,
  columnChoices,
  fixedValueOf,
  type ImportCollection,
} from './column-card';
import {
  type Inspection,
  type MappedColumn,
  type Mapping,
  withParts,
  withSavedMapping,
} from './import-steps';

export interface MappingStepProps {
  readonly one: ShownImportFragment;
  onTried(): void;
}

/** The rest is rendered on request, because a file may have 2,000 columns. */
const COLUMNS_AT_ONCE = 100;

export function MappingStep({ one, onTried }: MappingStepProps) {
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
  const choices = collection && data ? columnChoices(collection, data.collections) : [];
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
        <ChoiceField
          label={t('Use a saved mapping')}
          data={['', ...saved.data.importMappings.map(({ name }) => name)]}
          value=""
          onChange={(name) => {
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
        <TextButton label={t('More columns')} onClick={() => setShown(shown + COLUMNS_AT_ONCE)} />
      )}
      {left.length > 0 && (
        <WarningNotice title={t('Required, but not in any column')}>
          {left.map(({ name }) => sayFieldName(name)).join(', ')}
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
      <TitledSection title={t('For the next file like this one')}>
        <TextField
          label={t('Save this mapping as')}
          value={saveAs}
          onChange={setSaveAs}
          maxLength={100}
          maw={420}
        />
      </TitledSection>
      {problem && <MappingProblem problem={problem} />}
      <Group>
        <TextButton
          label={t('Start dry run')}
          isMain
          loading={change.isPending || begin.isPending}
          onClick={() => void submit().catch(() => undefined)}
        />
        <Text c="dimmed">{t('A dry run saves nothing. It shows what would happen to every row.')}</Text>
      </Group>
    </Stack>
  );
}

/** Whether a path of the mapping sets a field or a part of it. */
function isAt(path: string | null, field: string): boolean {
  return path === field || path?.startsWith(`${field}.`) === true;
}

function Warnings({ warnings }: { readonly warnings: readonly string[] }) {
  if (warnings.length === 0) return null;
  return (
    <WarningNotice title={t('Seen in the file')}>
      <ProblemList className="plain-list" texts={warnings} />
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
      {details.length > 1 && <ProblemList texts={details.map(({ detail = '' }) => detail)} />}
    </Stack>
  );
}

/** The options for writing the rows of a file. */
type ChosenOptions = Pick<ShownImportFragment, 'mode' | 'by' | 'missing' | 'triggers'>;

interface OptionFieldsProps {
  readonly options: ChosenOptions;
  readonly collection: ImportCollection;
  onChange(options: ChosenOptions): void;
}

function OptionFields({ options, collection, onChange }: OptionFieldsProps) {
  const mayRemove = useRights(collection.name)?.canRemove === true;
  const { mode, by, missing, triggers } = options;
  const keys = ['_id', ...collection.fields.filter(({ isUnique }) => isUnique).map(({ name }) => name)];
  const offered = keys.includes(by) ? keys : [by, ...keys];
  const setTrigger = (trigger: ChosenOptions['triggers'][number], isOn: boolean) =>
    onChange({
      ...options,
      triggers: [...triggers.filter((one) => one !== trigger), ...(isOn ? [trigger] : [])],
    });
  return (
    <TitledSection title={t('How it is written')}>
      <Stack>
        <SimpleGrid cols={{ base: 1, sm: 3 }}>
          <ChoiceField
            label={t('If rows have errors')}
            value={mode}
            onChange={(next) => onChange({ ...options, mode: next as typeof mode })}
            data={[
              { value: 'ATOMIC', label: t('import nothing') },
              { value: 'ROWS', label: t('import the others') },
            ]}
          />
          <ChoiceField
            label={t('Match records by')}
            value={by}
            onChange={(next) => onChange({ ...options, by: next })}
            data={offered.map((key) => ({ value: key, label: key === '_id' ? '_id' : sayFieldName(key) }))}
          />
          <ChoiceField
            label={t('Records missing from the file')}
            value={missing}
            disabled={!mayRemove}
            onChange={(next) => onChange({ ...options, missing: next as typeof missing })}
            data={[
              { value: 'KEEP', label: t('keep them') },
              { value: 'REMOVE', label: t('remove them: the file is the full list') },
            ]}
          />
        </SimpleGrid>
        <CheckField
          label={t('Run scripts that check records before saving')}
          checked={triggers.includes('BEFORE')}
          onChange={(isOn) => setTrigger('BEFORE', isOn)}
        />
        <CheckField
          label={t('Run scripts that follow a change')}
          checked={triggers.includes('AFTER')}
          onChange={(isOn) => setTrigger('AFTER', isOn)}
        />
      </Stack>
    </TitledSection>
  );
}

/** Fields that get the same value in every imported record. */
interface FixedValuesProps {
  readonly fixed: Readonly<Record<string, unknown>>;
  readonly choices: readonly ColumnChoice[];
  readonly taken: ReadonlySet<string | null>;
  onChange(fixed: Readonly<Record<string, unknown>>): void;
}

function FixedValues({ fixed, choices, taken, onChange }: FixedValuesProps) {
  const [added, setAdded] = useState('');
  const free = choices.filter(({ path }) => path !== '_id' && !taken.has(path) && !(path in fixed));
  const without = (path: string) =>
    Object.fromEntries(Object.entries(fixed).filter(([name]) => name !== path));
  return (
    <TitledSection title={t('Same value in every record')} mb={0}>
      <Text c="dimmed" mb="xs">
        {t('Values that the file does not contain, such as the session of all its students.')}
      </Text>
      <Stack gap="xs">
        {Object.entries(fixed).map(([path, value]) => {
          const choice = choices.find((one) => one.path === path);
          const label = choice?.label ?? path;
          const allowed = choice?.field?.allowed;
          const common = {
            label,
            value: typeof value === 'string' ? value : JSON.stringify(value),
            onChange: (text: string) => onChange({ ...fixed, [path]: fixedValueOf(text, choice?.field) }),
          };
          return (
            <Group key={path} align="flex-end" gap="xs" wrap="nowrap">
              {allowed ? (
                <ChoiceField
                  {...common}
                  data={['', ...allowed.map((code) => ({ value: code, label: sayAllowed(code) }))]}
                  className="grow"
                  maw={380}
                />
              ) : (
                <TextField {...common} className="grow" maw={380} />
              )}
              <IconButton
                icon="trash"
                label={t('Take {field} away', { field: label })}
                size="input-sm"
                onClick={() => onChange(without(path))}
              />
            </Group>
          );
        })}
        <Group align="flex-end" gap="xs">
          <ChoiceField label={t('Another field')} value={added} onChange={setAdded} maw={300}>
            <option value="" />
            {free.map(({ path, label }) => (
              <option key={path} value={path}>
                {label}
              </option>
            ))}
          </ChoiceField>
          <TextButton
            label={t('Add')}
            disabled={added === ''}
            onClick={() => {
              onChange({ ...fixed, [added]: '' });
              setAdded('');
            }}
          />
        </Group>
      </Stack>
    </TitledSection>
  );
}
