import { Button, Group, Stack, Textarea } from '@mantine/core';
import { useState } from 'react';
import { RunOfScript, RunsOfScript } from '../../../generated/portal/scripts/scripts';
import { useChange } from '../gateway/use-operation';
import { useTexts } from '../language/use-texts';
import { findJsonFault } from '../shell/find-json-fault';
import { ProblemState } from '../shell/states';
import { FinishedRun } from './finished-run';

/** Runs the saved script with the given arguments. */
export function RunTab({ name }: { readonly name: string }) {
  const t = useTexts();
  const [text, setText] = useState('{}');
  const run = useChange(RunOfScript, [RunsOfScript]);
  const read = readJson(text);
  const fault = read === undefined ? findJsonFault(text) : undefined;
  return (
    <Stack maw={800}>
      <Textarea
        label={t('Arguments, as JSON')}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        error={fault && t('This is no JSON: line {line, number}, column {column, number}', { ...fault })}
        autosize
        minRows={4}
        spellCheck={false}
        classNames={{ input: 'monospace' }}
      />
      <Group>
        <Button
          disabled={read === undefined}
          loading={run.isPending}
          onClick={() => run.mutate({ name, arguments: read?.value })}
        >
          {t('Run')}
        </Button>
      </Group>
      {run.error && <ProblemState problem={run.error} />}
      {run.data && <FinishedRun run={run.data.runScript} />}
    </Stack>
  );
}

function readJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: text.trim() === '' ? undefined : JSON.parse(text) };
  } catch {
    return undefined;
  }
}
