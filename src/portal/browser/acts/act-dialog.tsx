/** The form of an act, its dry run, and what it has done. */

import { ScrollArea, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Act, ActInput, ShownResult } from '../../../school/acts/act-definition.js';
import { useViewer, useWrite } from '../gateway/use-gateway';
import { nameOfColumn } from '../language/name-of-field';
import { formats, t } from '../language/texts';
import { valueOfText } from '../reports/askable-report';
import { ParameterInput } from '../reports/parameters-form';
import { ConfirmDialog, notice, useUndoNotice } from '../shell/confirm-dialog';
import { ListTable } from '../shell/list-table';
import { type ActSubject, fillIn, findObstacle, readAt, sayAct, variablesOf } from './acts';

interface ActDialogProps {
  readonly act: Act;
  readonly subject: ActSubject;
  onDone(): void;
  onClose(): void;
}

type Answer = Readonly<Record<string, unknown>>;

export function ActDialog({ act, subject, onDone, onClose }: ActDialogProps) {
  const queries = useQueryClient();
  const offerUndo = useUndoNotice();
  const { today } = formats;
  const known: Readonly<Record<string, string>> = {
    ...{ '{me}': useViewer().id, '{today}': today, '{month}': today.slice(0, 7) },
  };
  const { name, document: text = '', mutation = '', inputs, preview } = act;
  const write = useWrite<Readonly<Record<string, Answer>>, unknown>({
    name: 'Act',
    text,
  });
  const given = ({ from, value, allowed }: ActInput) => {
    const found = from === undefined ? undefined : readAt(subject, from);
    const stored = String(found).toUpperCase();
    if (found !== undefined) return allowed?.includes(stored) ? stored : found;
    return typeof value === 'string' ? (known[value] ?? value) : value;
  };
  const asked = inputs.filter(
    (input) => input.isAsked || (input.from === undefined && input.value === undefined),
  );
  const [written, setWritten] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries(asked.map((input) => [input.path, String(given(input) ?? '')])),
  );
  const [seen, setSeen] = useState<Answer>();
  const obstacle = findObstacle(act, subject);
  if (obstacle !== undefined)
    return (
      <ConfirmDialog
        title={sayAct(act, act.title)}
        action={sayAct(act, act.title)}
        isReady={false}
        {...{ onClose, onConfirm: onClose }}
      >
        {t('This is not possible now.')} {sayAct(act, obstacle)}
      </ConfirmDialog>
    );
  const sentValueOf = (input: ActInput) => {
    const text = written[input.path]?.trim() ?? '';
    const typed = text === '' ? undefined : valueOfText(input, text);
    const value = asked.includes(input) ? typed : given(input);
    return input.isList && value !== undefined && !Array.isArray(value) ? [value] : value;
  };
  const values = new Map(
    inputs
      .map((input) => [input.path, sentValueOf(input)] as const)
      .filter(([, value]) => value !== undefined),
  );
  const missing = inputs.filter(({ path, isRequired }) => isRequired && !values.has(path));
  const unknown = missing.find((input) => !asked.includes(input));
  const run = async (isDry: boolean) => {
    if (preview !== undefined) values.set(preview, isDry);
    const done = await write.mutateAsync(variablesOf(values)).catch(() => undefined);
    if (!done) return;
    const answer = done.answer[mutation];
    if (isDry) {
      setSeen(answer ?? {});
      return;
    }
    await queries.invalidateQueries();
    onDone();
    const words = fillIn(sayAct(act, act.done ?? act.title), subject);
    if (act.isUndoable === false) notice(words);
    else offerUndo(words, { requestId: done.requestId, onUndone: () => queries.invalidateQueries() });
  };
  const isPreview = preview !== undefined && seen === undefined;
  const vain = act.result?.find(
    ({ field, otherwise }) => seen && otherwise !== undefined && Number(seen[field]) === 0,
  );
  const reason = unknown
    ? t('The record has no value for {field}.', { field: titleOf(act, unknown) })
    : vain && sayAct(act, vain.otherwise ?? '');
  return (
    <ConfirmDialog
      title={sayAct(act, act.title)}
      action={isPreview ? t('Show what will be done') : sayAct(act, act.title)}
      isDangerous={act.isDangerous === true}
      isReady={missing.length === 0 && reason === undefined}
      onConfirm={() => void run(isPreview)}
      of={write}
      onClose={onClose}
    >
      <Stack gap="sm">
        {act.description !== undefined && <div>{fillIn(sayAct(act, act.description), subject)}</div>}
        {asked.map((input) => (
          <AskedInput
            key={`${name} ${input.path}`}
            {...{ act, input }}
            value={written[input.path] ?? ''}
            onChange={(value) => {
              setWritten({ ...written, [input.path]: value });
              // The preview of other input would be wrong.
              setSeen(undefined);
            }}
          />
        ))}
        {seen && <Result act={act} answer={seen} />}
        {reason !== undefined && (
          <div role="status">
            {t('This is not possible now.')} {reason}
          </div>
        )}
      </Stack>
    </ConfirmDialog>
  );
}

function titleOf(act: Act, { title, path }: ActInput): string {
  return title === undefined ? nameOfColumn(path.split('.').at(-1) ?? path) : sayAct(act, title);
}

interface AskedInputProps {
  readonly act: Act;
  readonly input: ActInput;
  readonly value: string;
  onChange(value: string): void;
}

function AskedInput({ act, input, value, onChange }: AskedInputProps) {
  const { path, type, isRequired, lines, choices, allowed, description } = input;
  const isText = input.title !== undefined && type === 'String' && !/\bclass$/.test(path);
  const isPlain = choices !== undefined || lines !== undefined || isText;
  const titles = Object.entries(choices ?? {}).map(([value, title]) => [value, sayAct(act, title)]);
  return (
    <ParameterInput
      parameter={{
        ...{ type, isRequired, lines, title: titleOf(act, input), titles: Object.fromEntries(titles) },
        choices: choices ? Object.keys(choices) : allowed,
        name: isPlain ? '' : (path.split('.').at(-1) ?? ''),
        description: isPlain ? '' : description,
      }}
      {...{ value, onChange }}
    />
  );
}

/** The figures of a result, and its rows. */
function Result({ act, answer }: { readonly act: Act; readonly answer: Answer }) {
  const textOf = ({ field, unit }: ShownResult, row: Answer): string => {
    const value = row[field] ?? '';
    if (unit === 'money') return formats.money(String(value));
    return typeof value === 'number' ? formats.number(value) : String(value);
  };
  const rows = (act.rows && (answer[act.rows.list] as readonly Answer[])) ?? [];
  return (
    <div role="status">
      {act.result?.map((one) => (
        <Text key={one.field}>
          {sayAct(act, one.title)}: <strong>{textOf(one, answer)}</strong>
        </Text>
      ))}
      {act.rows && rows.length > 0 && (
        <ScrollArea.Autosize mah={280}>
          <ListTable<Answer>
            label={sayAct(act, act.title)}
            verticalSpacing={4}
            rows={rows}
            keyOf={(row) => JSON.stringify(row)}
            columns={act.rows.columns.map((one) => [
              sayAct(act, one.title),
              (row) => textOf(one, row),
              one.unit === 'money' ? 'numeric' : undefined,
            ])}
          />
        </ScrollArea.Autosize>
      )}
    </div>
  );
}
