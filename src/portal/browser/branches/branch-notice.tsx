import { Anchor } from '@mantine/core';
import { useTexts } from '../language/use-texts';
import { useViewer } from '../shell/viewer';
import { branchInAddress, homeOfBranch } from './branch-in-address';

/** On every page: whoever works in a branch for a while does not forget that it is not the own school. */
export function BranchNotice() {
  const t = useTexts();
  const { domain } = useViewer();
  if (branchInAddress() === '') return null;
  return (
    <div className="branch-notice" role="note">
      <span className="wrapped">{t('You are working in {name}.', { name: domain.name })}</span>
      <Anchor inherit href={homeOfBranch('')}>
        {t('Back to your own school')}
      </Anchor>
    </div>
  );
}
