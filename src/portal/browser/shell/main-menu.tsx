import { NavLink, Stack, Text } from '@mantine/core';
import { Link, useLocation } from '@tanstack/react-router';
import { Fragment } from 'react';
import { useTexts } from '../language/use-texts';
import { MENU_GROUPS, type MenuGroup, PORTAL_PAGES } from '../portal-pages';
import { useSheets, useSheetTitle } from '../sheets/use-sheets';
import { Icon, type IconName } from './icon';
import { useViewer } from './viewer';

/** The menu of the pages that the viewer has access to, by group. */
export function MainMenu() {
  const t = useTexts();
  const viewer = useViewer();
  const { pathname } = useLocation();
  const pages = PORTAL_PAGES.filter(({ menu, isFor }) => menu && isFor(viewer));
  return (
    <Stack gap="md">
      {Object.entries(MENU_GROUPS).map(([group, label]) => {
        const own = pages.filter(({ menu }) => menu?.group === (group as MenuGroup));
        if (own.length === 0) return null;
        return (
          <section key={group} aria-label={t(label)}>
            <Text size="xs" fw={600} c="dimmed" px="sm" mb={4}>
              {t(label)}
            </Text>
            {own.map((page) => (
              <Fragment key={page.path}>
                <MenuLink to={page.path} isActive={isWithin(pathname, page.path)}>
                  <Icon name={page.menu?.icon ?? 'none'} />
                  {t(page.label)}
                </MenuLink>
                {page.path === '/' && <SheetLinks />}
              </Fragment>
            ))}
            {group === 'developer' && (
              <>
                <NavLink href="/docs" label={t('REST documentation')} leftSection={<Icon name="file" />} />
                <NavLink href="/manual" label={t('Manual')} leftSection={<Icon name="book" />} />
              </>
            )}
          </section>
        );
      })}
    </Stack>
  );
}

/** The sheets stand before all other work: they are what a day begins with. */
function SheetLinks() {
  const { pathname } = useLocation();
  const titleOf = useSheetTitle();
  return useSheets().map((sheet) => {
    const to = `/portal/sheets/${sheet.name}`;
    return (
      <MenuLink key={to} to={to} isActive={isWithin(pathname, to)}>
        <Icon name={(sheet.icon as IconName | undefined) ?? 'table'} />
        {titleOf(sheet).title}
      </MenuLink>
    );
  });
}

interface MenuLinkProps {
  readonly to: string;
  readonly isActive: boolean;
  readonly children: [React.ReactNode, string];
}

/**
 * The explorer has its own content security policy, so a link to it loads a new document, and so does the way
 * back.
 */
function MenuLink({ to, isActive, children: [icon, label] }: MenuLinkProps) {
  const { pathname } = useLocation();
  const isOtherPolicy = (to === '/explore') !== (pathname === '/explore');
  const look = {
    label,
    leftSection: icon,
    active: isActive,
    ...(isActive && { 'aria-current': 'page' as const }),
  };
  return isOtherPolicy ? <NavLink href={to} {...look} /> : <NavLink component={Link} to={to} {...look} />;
}

function isWithin(pathname: string, path: string): boolean {
  if (path === '/') return pathname === '/' || pathname === '/portal';
  return pathname === path || pathname.startsWith(`${path}/`);
}
