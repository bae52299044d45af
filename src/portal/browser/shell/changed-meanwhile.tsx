import { Stack, Text } from '@mantine/core';
import { LastAuditedChange, LastChangeOfRecord } from '../../../generated/portal/shell/last-change';
import { GatewayProblem } from '../gateway/gateway-problem';
import { useOperation } from '../gateway/use-operation';
import { useFormats } from '../language/use-formats';
import { useTexts } from '../language/use-texts';
import { FactsTable, type FactsTableProps } from './fact-strip';
import { WarningNotice } from './state-tag';
import { useUserNames } from './use-record-labels';

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

export interface ChangedByProps {
  /** The last one first. */
  readonly changes: readonly OtherChange[];
}

/** Names who made the changes, and when the last of them was made. */
export function ChangedBy({ changes }: ChangedByProps) {
  const t = useTexts();
  const { instant } = useFormats();
  const authors = [...new Set(changes.map(({ by }) => by))];
  const userName = useUserNames(authors);
  const [last] = changes;
  if (!last) return null;
  return (
    <Text size="sm" fw={600}>
      {t('Changed by {names} · {time}', {
        names: authors.map(userName).join(', '),
        time: instant(last.at),
      })}
    </Text>
  );
}

/** Names who made the last change; nothing if the viewer may not know it. */
export function LastChangedBy({ changed }: { readonly changed: ChangedObject }) {
  const last = useLastChange(changed);
  return last && <ChangedBy changes={[last]} />;
}

/** A change that somebody else has made in the meantime. */
export interface OtherChange {
  /** The id of the user, or the name of a task of the service. */
  readonly by: string;
  readonly at: string;
}

/** What was changed: a record, or an audited object by the name that the audit trail has for its kind. */
export interface ChangedObject {
  /** The collection of a record, or e.g. `$property`. */
  readonly collection: string;
  readonly id: string;
}

/** Returns the last change; `undefined` until it is read, and if the viewer may not know who made it. */
function useLastChange(changed: ChangedObject): OtherChange | undefined {
  const isRecord = !changed.collection.startsWith('$');
  const { collection, id } = changed;
  const history = useOperation(LastChangeOfRecord, { collection, id }, { isEnabled: isRecord });
  const trail = useOperation(LastAuditedChange, { collection, id }, { isEnabled: !isRecord });
  const [version] = history.data?.recordHistory.nodes ?? [];
  if (version?.by) return { by: version.by.principal, at: version.at };
  const [audited] = trail.data?.auditTrail ?? [];
  return audited && { by: audited.principal, at: audited.at };
}
