import { Alert, Anchor, Group } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTexts } from '../language/use-texts';
import { useViewer } from '../shell/viewer';
import { findDrafts } from './use-draft';

const MOST_NAMED = 5;

/** Links to unsaved changes in this tab, e.g. from before a reload. */
export function UnsavedRecords({ collection }: { readonly collection: string }) {
  const t = useTexts();
  const ids = findDrafts(useViewer(), collection);
  if (ids.length === 0) return null;
  return (
    <Alert variant="light" p="xs" mb="sm" color="yellow">
      <Group gap="xs">
        {t('{count, plural, one {# record has} other {# records have}} changes that are not saved:', {
          count: ids.length,
        })}
        {ids.slice(0, MOST_NAMED).map((id) => (
          <Anchor
            key={id}
            component={Link}
            to={`/portal/records/${collection}/${encodeURIComponent(id)}`}
            size="sm"
          >
            {id}
          </Anchor>
        ))}
      </Group>
    </Alert>
  );
}
