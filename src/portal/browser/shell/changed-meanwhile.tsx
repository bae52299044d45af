import { Stack, Text } from '@mantine/core';
import { GatewayProblem } from '../gateway/gateway-problem';
import { useTexts } from '../language/use-texts';
import { LastChangedBy } from './changed-by';
import { FactsTable, type FactsTableProps } from './facts-table';
import type { ChangedObject } from './use-last-change';
import { WarningNotice } from './warning-notice';

export interface ChangedMeanwhileProps {
  readonly changed: ChangedObject;
  /** The version saved by the other person. */
  readonly theirs: FactsTableProps['facts'];
}

/**
 * Names who saved the current version, and shows it, in a form whose save was refused because somebody else
 * saved first.
 */
export function ChangedMeanwhile({ changed, theirs }: ChangedMeanwhileProps) {
  const t = useTexts();
  return (
    <div role="alert">
      <WarningNotice title={t('Someone else has changed this')}>
        <Stack gap="xs">
          <LastChangedBy changed={changed} />
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
 * Returns the version that a form replaces: the one it was opened with; after a refusal, the one somebody
 * else has saved, which is then shown.
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
