import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { HistoryOfRecord, RecordNow, UndoRequest } from '../../../generated/portal/records/record';
import type { GatewayProblem } from '../gateway/gateway-problem';
import { useChange } from '../gateway/use-operation';
import { ProblemWords } from '../language/problem-words';
import { useTexts } from '../language/use-texts';
import { useNotice } from '../shell/use-notice';

export interface UndoableChange {
  /** All that this request changed is taken back. */
  readonly requestId: string;
  onUndone(): Promise<void>;
}

/** The latest change alone can be taken back from the corner; those before it, from the history. */
const NOTICE_ID = 'undo';
const SHOWN_MS = 60_000;

/** Says that something was done, with a button that takes it back. */
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
        // What is shown may be older than the change that stands in the way.
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
