/** Tiles that link to other pages: dashboards, collections the viewer enters, and a few reports. */
import { Card, Text } from '@mantine/core';
import { SharedDashboards } from '../../../generated/portal/home/home';
import { useOperation, useViewer } from '../gateway/use-gateway';
import { useInOrderOfTitle, useTexts } from '../language/use-texts';
import { TextLink } from '../shell/text-button';

/** A longer list has a page of its own in the menu. */
const MOST_LINKS = 6;

/** Collections of the portal itself, which nobody enters as records. */
const OF_THE_PORTAL: ReadonlySet<string> = new Set(['dashboard', 'saved_view']);

interface Shortcut {
  readonly to: string;
  readonly title: string;
}

export function ShortcutTiles() {
  const t = useTexts();
  const inOrder = useInOrderOfTitle();
  const { collections, reports } = useViewer();
  const readsDashboards = collections.some(({ name, canRead }) => name === 'dashboard' && canRead);
  const { data } = useOperation(SharedDashboards, {}, { isEnabled: readsDashboards });
  const dashboards = (data?.dashboards.nodes ?? []).slice(0, MOST_LINKS);
  const entered = collections.filter(({ name, canCreate }) => canCreate && !OF_THE_PORTAL.has(name));
  return (
    <>
      <ShortcutTile
        title={t('New record')}
        links={inOrder(entered).map(({ name, title }) => ({ to: `/portal/records/${name}/new`, title }))}
      />
      <ShortcutTile
        title={t('Reports')}
        links={inOrder(reports).map(({ name, title }) => ({ to: `/portal/reports/${name}`, title }))}
      />
      <ShortcutTile
        title={t('Dashboards')}
        links={dashboards.map(({ id, title }) => ({
          to: `/portal/dashboards/${encodeURIComponent(id)}`,
          title: title ?? id,
        }))}
      />
    </>
  );
}

interface ShortcutTileProps {
  readonly title: string;
  readonly links: readonly Shortcut[];
}

function ShortcutTile({ title, links }: ShortcutTileProps) {
  if (links.length === 0 || links.length > MOST_LINKS) return null;
  return (
    <Card component="section" withBorder padding="md" className="tile tile-short no-print" aria-label={title}>
      <Text component="h2" fw={600} c="dimmed" mb="xs">
        {title}
      </Text>
      <ul className="plain-list shortcut-list">
        {links.map((link) => (
          <li key={link.to}>
            <TextLink to={link.to}>{link.title}</TextLink>
          </li>
        ))}
      </ul>
    </Card>
  );
}
