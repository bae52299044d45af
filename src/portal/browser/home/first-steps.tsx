import { SimpleGrid, Text } from '@mantine/core';
import { StrengthByClass } from '../../../generated/portal/home/home';
import { useOperation } from '../gateway/use-operation';
import { useTexts } from '../language/use-texts';
import { LinkCard } from '../shell/link-card';
import { useViewer } from '../shell/viewer';

/** What to begin with, for who looks after a school that has no students yet. */
export function FirstSteps() {
  const t = useTexts();
  const { duties, mayImport } = useViewer();
  const { data } = useOperation(StrengthByClass, {});
  if (data?.strength.totals.strength !== 0 || !mayImport) return null;
  return (
    <section aria-labelledby="first-steps">
      <Text component="h2" id="first-steps" fw={600} mb="xs">
        {t('First steps')}
      </Text>
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 4 }} component="ul" className="plain-list" mb="lg">
        {duties.includes('settings') && (
          <LinkCard to="/portal/settings" title={t('Say how the school works')}>
            <Text size="sm" c="dimmed">
              {t('Its name, its week, when its session begins, and how it grades.')}
            </Text>
          </LinkCard>
        )}
        <LinkCard to="/portal/records/class" title={t('Make its classes')}>
          <Text size="sm" c="dimmed">
            {t('Each with its sections and class teachers.')}
          </Text>
        </LinkCard>
        <LinkCard to="/portal/imports" title={t('Bring in the students')}>
          <Text size="sm" c="dimmed">
            {t('From a spreadsheet: it is tried first, and can be undone.')}
          </Text>
        </LinkCard>
        {duties.includes('users') && (
          <LinkCard to="/portal/people" title={t('Invite the staff')}>
            <Text size="sm" c="dimmed">
              {t('Each with a link of their own and the rights of their role.')}
            </Text>
          </LinkCard>
        )}
      </SimpleGrid>
    </section>
  );
}
