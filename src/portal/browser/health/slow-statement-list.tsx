import { Button, Card, Code, Group, Stack, Text, Title } from '@mantine/core';
import { useId, useState } from 'react';
import { useFormats, useTexts } from '../language/use-texts';
import { CodeToCopy, CopyTextButton } from '../shell/code-to-copy';
import { StateTag } from '../shell/icon';
import { EmptyState } from '../shell/states';
import { type SlowOperation, type SlowRun, toSlowOperations } from './slow-operations';

export interface SlowStatementListProps {
  /** The newest first. */
  readonly statements: readonly SlowRun[];
}

/** A longer statement is shortened until the reader expands it. */
const LONGEST_SHOWN = 300;

/** The operations of the last slow statements, each with its worst one and the indexes that would help. */
export function SlowStatementList({ statements }: SlowStatementListProps) {
  const t = useTexts();
  const heading = useId();
  return (
    <section aria-labelledby={heading}>
      <Title order={2} size="h4" mb={4} id={heading}>
        {t('Slow statements')}
      </Title>
      <Text size="sm" c="dimmed" mb="xs">
        {t('The last 50 of the gateway process that answered, since it started; the log has those of all.')}
      </Text>
      {statements.length === 0 && <EmptyState icon="check" title={t('None since this process started')} />}
      <Stack>
        {toSlowOperations(statements).map((operation) => (
          <SlowOperationCard key={operation.key} operation={operation} />
        ))}
      </Stack>
    </section>
  );
}

function SlowOperationCard({ operation }: { readonly operation: SlowOperation }) {
  const t = useTexts();
  const { number, instant } = useFormats();
  const { name, count, lastAt, worst, suggestions } = operation;
  const { collections, durationMs, rows, statement, requestId } = worst;
  const isRepeated = count > 1;
  return (
    <Card withBorder>
      <Group gap="xs">
        <StateTag state="slow">
          {isRepeated
            ? t('up to {ms} ms', { ms: number(durationMs) })
            : t('{ms} ms', { ms: number(durationMs) })}
        </StateTag>
        <Text size="sm" className="wrapped">
          {name ?? t('Background task')}
        </Text>
        <Text size="sm" c="dimmed" className="wrapped">
          {[
            ...(isRepeated
              ? [t('{count} times', { count: number(count) }), t('last on {time}', { time: instant(lastAt) })]
              : [instant(lastAt)]),
            ...(collections.length === 0 ? [] : [collections.join(', ')]),
            t('{rows, plural, one {# row} other {# rows}}', { rows }),
            ...(requestId === null ? [] : [t('Request {id}', { id: requestId })]),
          ].join(' · ')}
        </Text>
      </Group>
      <Stack mt="xs" gap="xs">
        <StatementText text={statement} />
        {suggestions.map((suggestion) => (
          <CodeToCopy
            key={suggestion}
            title={t('An index would help. Add to the declaration:')}
            text={suggestion}
          />
        ))}
      </Stack>
    </Card>
  );
}

function StatementText({ text }: { readonly text: string }) {
  const t = useTexts();
  const [isWhole, setWhole] = useState(text.length <= LONGEST_SHOWN);
  const id = useId();
  return (
    <div>
      <Code block id={id} className={isWhole ? 'wrapped' : 'wrapped cut-lines'}>
        {text}
      </Code>
      <Group gap="xs" mt={4}>
        {text.length > LONGEST_SHOWN && (
          <Button
            size="compact-sm"
            variant="default"
            aria-expanded={isWhole}
            aria-controls={id}
            onClick={() => setWhole(!isWhole)}
          >
            {isWhole ? t('Show less') : t('Show all')}
          </Button>
        )}
        <CopyTextButton title={t('the statement')} text={text} />
      </Group>
    </div>
  );
}
