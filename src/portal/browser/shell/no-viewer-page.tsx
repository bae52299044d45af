import { Anchor, Button, Group } from '@mantine/core';
import { branchInAddress, homeOfBranch } from '../branches/branch-in-address';
import { EntranceCard } from '../entrance/entrance-card';
import { useTexts } from '../language/use-texts';
import { useSession } from '../session/session-context';
import { ProblemState, type ProblemStateProps } from './states';

/** Shown if the request for the viewer fails: the reason, and what the user can do. */
export function NoViewerPage(props: ProblemStateProps) {
  const t = useTexts();
  const session = useSession();
  return (
    <EntranceCard title={t('The portal cannot be opened')} subtitle={location.host}>
      <ProblemState {...props} />
      <Group justify="space-between">
        {branchInAddress() === '' ? (
          <span />
        ) : (
          <Anchor size="sm" href={homeOfBranch('')}>
            {t('Back to your own school')}
          </Anchor>
        )}
        <Button variant="subtle" size="compact-sm" onClick={() => void session.logOut()}>
          {t('Log out')}
        </Button>
      </Group>
    </EntranceCard>
  );
}
