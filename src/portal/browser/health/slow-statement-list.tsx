import { Button, Card, Code, Group, Stack, Text, Title } from '@mantine/core';
import { useId, useState } from 'react';
import type { GatewayHealthQuery } from '../../../generated/portal/health/health';
import { useFormats } from '../language/use-formats';
import { useTexts } from '../language/use-texts';
import { CodeToCopy } from '../shell/code-to-copy';
import { CopyTextButton } from '../shell/copy-text-button';
import { StateTag } from '../shell/state-tag';
import { EmptyState } from '../shell/states';

type SlowStatement = GatewayHealthQuery['health']['slowStatements'][number];

/** A longer statement is shortened until the reader expands it. */
const LONGEST_SHOWN = 300;

/** The last slow statements, each with the index that would help. */
export function SlowStatementList({ statements }: { readonly statements: readonly SlowStatement[] }) {
  const t = useTexts();
  const heading = useId();
  return (
    <section aria-labelledby={heading}>
      <Title order={2} size="h4" mb="xs" id={heading}>
        {t('Slow statements')}
      </Title>
      {statements.length === 0 && <EmptyState icon="check" title={t('None since the gateway started')} />}
      <Stack>
        {statements.map((slow) => (
          <SlowStatementCard key={`${slow.at} ${slow.statement}`} slow={slow} />
        ))}
      </Stack>
    </section>
  );
}

function SlowStatementCard({ slow }: { readonly slow: SlowStatement }) {
  const t = useTexts();
  const { number, instant } = useFormats();
  const { at, operation, collections, durationMs, rows, statement, suggestions } = slow;
  return (
    <Card withBorder>
      <Group gap="xs">
        <StateTag state="slow">{t('{ms} ms', { ms: number(durationMs) })}</StateTag>
        <Text size="sm" className="wrapped">
          {operation ?? t('Background task')}
        </Text>
        <Text size="sm" c="dimmed" className="wrapped">
          {[
            instant(at),
            ...(collections.length === 0 ? [] : [collections.join(', ')]),
            t('{rows, plural, one {# row} other {# rows}}', { rows }),
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
