import { Code, Modal, NavLink, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { SchoolBranches } from '../../../generated/portal/branches/branches';
import { useOperation } from '../gateway/use-operation';
import { useTexts } from '../language/use-texts';
import { FindInput } from '../shell/find-input';
import { EmptyState, LoadingState, ProblemState } from '../shell/states';
import { useViewer } from '../shell/viewer';
import { homeOfBranch } from './branch-in-address';

/** A longer list gets a search, because it does not fit on the screen. */
const MOST_WITHOUT_SEARCH = 8;
/** The most search results to show. */
const MOST_SHOWN = 100;

/** The schools that the user may work in. Opening one reloads the page. */
export function BranchDialog({ onClose }: { onClose(): void }) {
  const t = useTexts();
  const { domain } = useViewer();
  const [words, setWords] = useState('');
  const { data, error, refetch } = useOperation(SchoolBranches, {});
  const branches = data?.me.branches ?? [];
  const found = branches.filter(({ id, name }) =>
    `${name} ${id}`.toLowerCase().includes(words.trim().toLowerCase()),
  );
  return (
    <Modal
      opened
      onClose={onClose}
      title={t('Switch to another school')}
      closeButtonProps={{ 'aria-label': t('Close') }}
    >
      <Stack gap="xs">
        {error && <ProblemState problem={error} retry={() => void refetch()} />}
        {!data && !error && <LoadingState rows={3} />}
        {branches.length > MOST_WITHOUT_SEARCH && (
          <FindInput label={t('Find a school')} value={words} onFind={setWords} />
        )}
        {data && found.length === 0 && <EmptyState icon="search" title={t('No school has these words')} />}
        <nav aria-label={t('Schools')}>
          {found.slice(0, MOST_SHOWN).map(({ id, name }) => (
            <NavLink
              key={id}
              href={homeOfBranch(id)}
              label={name}
              description={<Code>{id}</Code>}
              active={id === domain.id}
              {...(id === domain.id && { 'aria-current': 'true' as const })}
            />
          ))}
        </nav>
        {found.length > MOST_SHOWN && (
          <Text size="sm" c="dimmed">
            {t('{count, number} more: type part of the name', { count: found.length - MOST_SHOWN })}
          </Text>
        )}
        {data && branches.length === 1 && (
          <Text size="sm" c="dimmed">
            {t('There are no others yet. Add a branch under Settings.')}
          </Text>
        )}
      </Stack>
    </Modal>
  );
}
