import { Stack, Text } from '@mantine/core';
import { GatewayProblem } from '../gateway/gateway-problem';
import { useTexts } from '../language/use-texts';
import { FactsTable, type FactsTableProps } from './facts-table';
import { WarningNotice } from './warning-notice';

export interface ChangedMeanwhileProps {
  /** What the other person has made of it. */
  readonly theirs: FactsTableProps['facts'];
}

/** In a form whose saving was refused because somebody else saved first: what is there now, to compare. */
export function ChangedMeanwhile({ theirs }: ChangedMeanwhileProps) {
  const t = useTexts();
  return (
    <div role="alert">
      <WarningNotice title={t('Someone else has changed this')}>
        <Stack gap="xs">
          <FactsTable facts={theirs} />
          <Text size="sm">
            {t('This is the current version. Save again to replace it with yours, or close to keep it.')}
          </Text>
        </Stack>
      </WarningNotice>
    </div>
  );
}

/**
 * What a form is saved over: what it was begun from, and after a refusal what somebody else has made of that,
 * which is shown by then.
 */
export function savedOver<Begun, Now extends Begun>(
  begun: Begun,
  now: Now | undefined,
  problem: Error | null,
): { readonly over: Begun; readonly theirs: Now | undefined } {
  const theirs = isVersionConflict(problem) ? now : undefined;
  return { over: theirs ?? begun, theirs };
}

export function isVersionConflict(problem: Error | null): boolean {
  return problem instanceof GatewayProblem && problem.code === 'VERSION_CONFLICT';
}
