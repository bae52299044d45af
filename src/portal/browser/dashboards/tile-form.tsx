/** A form to add or change a tile: the operation, its variables and picture, with a preview. */

import { Card, Select, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import type { DashboardTileInput } from '../../../generated/portal/dashboards/dashboards';
import { TILE_OPERATIONS } from '../../../generated/portal/tile-operations';
import { headingOfPath } from '../../explore/cell-printer';
import { labelsOf, measuresOf } from '../../explore/chart-choice';
import { fillVariables } from '../../explore/example-operation';
import type { ResultColumn, ResultTable } from '../../explore/result-tables';
import { useViewer } from '../gateway/use-gateway';
import { formats, phrase, say, t } from '../language/texts';
import { ParameterInput } from '../reports/parameters-form';
import { FormDialog, type SubmitFormProps } from '../shell/confirm-dialog';
import { readJsonObject } from '../shell/read-json';
import { LongTextField, PickField, SwitchField, TextField } from '../shell/text-field';
import { findOperation, TileBody, useTileAnswer } from './dashboard-tile';
import type { TileOperation } from './tile-operation';
import { fromFormValues, isComplete, mayAsk, readVariables, toFormValues, wordsFor } from './tile-operation';
import { PICTURES, type TilePicture, tableOfTile } from './tile-picture';

const PICTURE_NAMES: Readonly<Record<TilePicture, string>> = {
  TABLE: phrase('Table'),
  NUMBER: phrase('Number'),
  BAR: phrase('Bar chart'),
  LINE: phrase('Line chart'),
  DOUGHNUT: phrase('Doughnut chart'),
};

const EMPTY_TILE: DashboardTileInput = { operation: '', picture: 'TABLE' };

export interface TileFormProps extends Pick<SubmitFormProps, 'of'> {
  readonly isNew: boolean;
  /** Absent for a new tile that is not of the explorer. */
  readonly tile?: DashboardTileInput | undefined;
  /** The dashboard as somebody else saved it in the meantime, if saving was rejected for that reason. */
  readonly theirs?: { readonly id: string; readonly tiles: readonly string[] } | undefined;
  onSave(tile: DashboardTileInput): void;
  onClose(): void;
}

export function TileForm({ isNew, tile, theirs, onSave, onClose, ...form }: TileFormProps) {
  const viewer = useViewer();
  const [edited, setEdited] = useState<DashboardTileInput>(tile ?? EMPTY_TILE);
  const change = (next: Partial<DashboardTileInput>) => setEdited({ ...edited, ...next });
  const operation = findOperation(edited);
  return (
    <FormDialog
      title={isNew ? t('New tile') : t('Change the tile')}
      size="lg"
      action={isNew ? t('Add the tile') : t('Save')}
      isReady={operation !== undefined}
      {...form}
      meanwhile={
        theirs && {
          changed: { collection: 'dashboard', id: theirs.id },
          theirs: [[t('Tiles'), theirs.tiles.join(', ')]],
        }
      }
      {...{ onClose, onCancel: onClose }}
      onSubmit={() => onSave({ ...edited, title: edited.title?.trim() || null })}
    >
      {typeof edited.document === 'string' ? (
        <QueryFields edited={edited} isQuery={operation !== undefined} onChange={change} />
      ) : (
        <PickField
          label={t('What it shows')}
          description={operation ? say(operation.description) : t('An operation from the library')}
          required
          searchable
          nothingFoundMessage={t('No operation has these words')}
          data={choicesOf(TILE_OPERATIONS.filter((one) => mayAsk(one, viewer)))}
          value={edited.operation || null}
          onChange={(name) => setEdited({ ...EMPTY_TILE, operation: name, wide: edited.wide ?? false })}
        />
      )}
      {operation && <OperationFields edited={edited} operation={operation} onChange={change} />}
    </FormDialog>
  );
}

function choicesOf(operations: readonly TileOperation[]) {
  return [...Map.groupBy(operations, ({ topic }) => topic)].map(([group, members]) => ({
    group: say(group),
    items: members.map(({ name, title }) => ({ value: name, label: say(title) })),
  }));
}

interface QueryFieldsProps extends Omit<OperationFieldsProps, 'operation'> {
  readonly isQuery: boolean;
}

/** A query of the explorer, and its variables. */
function QueryFields({ edited, isQuery, onChange }: QueryFieldsProps) {
  const { document, variables } = edited;
  const isObject = !variables?.trim() || readJsonObject(variables) !== undefined;
  return (
    <>
      <LongTextField
        label={t('Query')}
        description={t('The query of the explorer. Each viewer sees only what their own rights allow.')}
        required
        maxRows={12}
        classNames={{ input: 'monospace' }}
        value={document ?? ''}
        error={isQuery ? undefined : t('A tile is one query: the text begins with query or with a brace.')}
        onChange={(text) => onChange({ document: text })}
      />
      <LongTextField
        label={t('Variables')}
        description={t('A JSON object. Days may be words, such as {today}.', { today: '{today-30}' })}
        classNames={{ input: 'monospace' }}
        value={variables ?? ''}
        error={isObject ? undefined : t('This is not a JSON object.')}
        onChange={(text) => onChange({ variables: text })}
      />
    </>
  );
}

interface OperationFieldsProps {
  readonly edited: DashboardTileInput;
  readonly operation: TileOperation;
  onChange(next: Partial<DashboardTileInput>): void;
}

function OperationFields({ edited, operation, onChange }: OperationFieldsProps) {
  const { today } = formats;
  const variables = readVariables(edited.variables, operation) ?? {};
  const values = toFormValues(variables);
  const [settled] = useDebouncedValue(JSON.stringify(variables), 400);
  const asked = fillVariables(JSON.parse(settled), today);
  const isAsked = isComplete(operation, asked);
  const answer = useTileAnswer({ operation, asked, isEnabled: isAsked });
  const title = edited.title || say(operation.title);
  return (
    <>
      {operation.parameters.map((parameter) => (
        <ParameterInput
          key={parameter.name}
          parameter={parameter}
          value={values[parameter.name] ?? ''}
          words={wordsFor(parameter, operation)}
          onChange={(value) => {
            const next = { ...values, [parameter.name]: value };
            onChange({ variables: JSON.stringify(fromFormValues(operation.parameters, next)) });
          }}
        />
      ))}
      <PickField
        label={t('Picture')}
        data={PICTURES.map((one) => ({ value: one, label: t(PICTURE_NAMES[one]) }))}
        value={edited.picture}
        onChange={(picture) => onChange({ picture: picture as TilePicture })}
      />
      {answer.tables && <PictureFields edited={edited} tables={answer.tables} onChange={onChange} />}
      <TextField
        label={t('Title of the tile')}
        placeholder={say(operation.title)}
        maxLength={100}
        value={edited.title ?? ''}
        onChange={(text) => onChange({ title: text })}
      />
      <SwitchField
        label={t('Two columns wide')}
        checked={edited.wide ?? false}
        onChange={(isOn) => onChange({ wide: isOn })}
      />
      <Card withBorder padding="md" component="section" aria-label={t('Preview')} className="tile-preview">
        <Text fw={600} c="dimmed" mb="xs">
          {title}
        </Text>
        {isAsked ? (
          <TileBody title={title} operation={operation} choice={edited} answer={answer} />
        ) : (
          <Text>{t('Fill in the required fields to see a preview.')}</Text>
        )}
      </Card>
    </>
  );
}

interface PictureFieldsProps {
  readonly edited: DashboardTileInput;
  readonly tables: readonly ResultTable[];
  onChange(next: Partial<DashboardTileInput>): void;
}

/** The part of the answer to show, and its columns. Empty inputs select the most informative ones. */
function PictureFields({ edited, tables, onChange }: PictureFieldsProps) {
  const { picture, list, measure, by } = edited;
  const table = tableOfTile(tables, edited);
  const isChart = picture === 'BAR' || picture === 'LINE' || picture === 'DOUGHNUT';
  const pathsOf = (columns: readonly ResultColumn[]) =>
    columns.map(({ path }) => ({ value: path, label: say(headingOfPath(path)) }));
  const lists = tables.map(({ name }) => ({ value: name, label: say(labelOfList(name)) }));
  const fields = [
    tables.length > 1 && {
      ...{ label: t('Part of the answer'), data: lists, value: list },
      choose: (next: string | null) => ({ list: next, measure: null, by: null }),
    },
    table &&
      picture !== 'TABLE' && {
        ...{ label: t('Measure'), data: pathsOf(measuresOf(table)), value: measure },
        choose: (next: string | null) => ({ measure: next }),
      },
    table &&
      isChart && {
        ...{ label: t('By'), data: pathsOf(labelsOf(table)), value: by },
        choose: (next: string | null) => ({ by: next }),
      },
  ];
  return fields.map(
    (field) =>
      field && (
        <Select
          key={field.label}
          clearable
          placeholder={t('Key figure')}
          label={field.label}
          data={field.data}
          value={field.value ?? null}
          onChange={(next) => onChange(field.choose(next))}
          clearButtonProps={{ 'aria-label': t('Choose a key figure') }}
        />
      ),
  );
}

/** `feeDefaulters.totals.heads` as "Totals heads". The first word is the same for all lists. */
function labelOfList(name: string): string {
  const rest = name.split('.').slice(1);
  return headingOfPath((rest.length === 0 ? [name] : rest).join('.'));
}
