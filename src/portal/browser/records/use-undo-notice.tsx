import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { HistoryOfRecord, RecordNow, UndoRequest } from '../../../generated/portal/records/record';
import type { GatewayProblem } from '../gateway/gateway-problem';
import { useChange } from '../gateway/use-operation';
import { ProblemWords } from '../language/problem-words';
import { useTexts } from '../language/use-texts';
import { useNotice } from '../shell/use-notice';

export interface UndoableChange {
  /** The request whose changes can be undone. */
  readonly requestId: string;
  onUndone(): Promise<void>;
}

/** Only the latest change can be undone from the notice; earlier changes, from the history. */
const NOTICE_ID = 'undo';
const SHOWN_MS = 60_000;

/** Shows a notice that something was done, with a button that undoes it. */
export function useUndoNotice(): (message: string, change: UndoableChange) => void {
  const t = useTexts();
  const notice = useNotice();
  const undo = useChange(UndoRequest, [RecordNow, HistoryOfRecord]);
  return (message, { requestId, onUndone }) => {
    const takeBack = async () => {
      notifications.hide(NOTICE_ID);
      try {
        const { undoChange } = await undo.mutateAsync({ requestId });
        const count = undoChange.changed + undoChange.removed + undoChange.broughtBack;
        notice(t('{count, plural, one {# record} other {# records}} restored.', { count }));
        await onUndone();
      } catch (fault) {
        notice(<ProblemWords text={(fault as GatewayProblem).message} />, 'failed');
        // The page may be older than the change that prevents undoing.
        await onUndone();
      }
    };
    notifications.hide(NOTICE_ID);
    notifications.show({
      id: NOTICE_ID,
      color: 'green',
      autoClose: SHOWN_MS,
      closeButtonProps: { 'aria-label': t('Close') },
      message: (
        <Group justify="space-between" wrap="nowrap">
          <Text size="sm">{message}</Text>
          <Button size="compact-sm" variant="default" onClick={() => void takeBack()}>
            {t('Undo')}
          </Button>
        </Group>
      ),
    });
  };
}
