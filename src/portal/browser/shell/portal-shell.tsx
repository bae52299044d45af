/** The frame around every page: header, menu (a drawer on a phone), the skip link, and the offline notice. */
import {
  ActionIcon,
  AppShell,
  Avatar,
  Burger,
  Drawer,
  Group,
  Menu,
  Text,
  UnstyledButton,
} from '@mantine/core';
import { useDisclosure, useMediaQuery, useNetwork } from '@mantine/hooks';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { lazy, Suspense, useEffect } from 'react';
import { KeepLanguage } from '../../../generated/portal/shell/viewer';
import { BranchNotice } from '../branches/branch-notice';
import { SchoolChoice } from '../branches/school-choice';
import { Brand } from '../entrance/entrance-card';
import { Preferences } from '../entrance/preferences';
import { useChange } from '../gateway/use-operation';
import { useFormats } from '../language/use-formats';
import { useTexts } from '../language/use-texts';
import { findPage } from '../portal-pages';
import { useSession } from '../session/session-context';
import { Icon } from './icon';
import { MainMenu } from './main-menu';
import { PrintedOnly } from './printed-only';
import { ShortcutsHelp, useSearchKey, useShortcuts } from './shortcuts';
import { LoadingState } from './states';
import { useFocusAfterRemoval } from './use-focus-after-removal';
import { useViewer } from './viewer';

const SearchPalette = lazy(async () => ({
  default: (await import('../search/search-palette')).SearchPalette,
}));

export function PortalShell() {
  const t = useTexts();
  const [isMenuOpen, menu] = useDisclosure(false);
  const [isHelpOpen, help] = useDisclosure(false);
  const isWide = useMediaQuery('(min-width: 62em)', true, { getInitialValueInEffect: false });
  const { pathname } = useLocation();
  const isFull = findPage(pathname)?.isFull === true;
  const keepLanguage = useChange(KeepLanguage);
  const [isSearchOpen, search] = useDisclosure(false);
  useShortcuts(help.open);
  useSearchKey(search.open);
  useFocusAfterRemoval();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a link in the menu leads to another address.
  useEffect(menu.close, [pathname]);
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{
        width: 232,
        breakpoint: 'md',
        collapsed: { mobile: true, desktop: isFull && pathname === '/explore' },
      }}
      padding={0}
    >
      <UnstyledButton className="skip-link" onClick={skipToPage}>
        {t('Skip to the page')}
      </UnstyledButton>
      <AppShell.Header className="portal-header">
        <Group h="100%" px="md" justify="space-between" wrap="nowrap" gap="xs">
          <Group gap="xs" wrap="nowrap" miw={0}>
            {(!isWide || pathname === '/explore') && (
              <Burger opened={isMenuOpen} onClick={menu.open} size="sm" aria-label={t('Open the menu')} />
            )}
            <Link to="/" className="brand-link" aria-label={t('Campus Gateway, home')}>
              <Brand />
            </Link>
            <SchoolChoice />
          </Group>
          <Group gap={4} wrap="nowrap">
            <ActionIcon size="lg" onClick={search.open} aria-label={t('Search everything')}>
              <Icon name="search" />
            </ActionIcon>
            <ActionIcon size="lg" onClick={help.open} aria-label={t('Keyboard shortcuts')} visibleFrom="sm">
              <Icon name="help" />
            </ActionIcon>
            <Preferences onLanguage={(language) => keepLanguage.mutate({ language })} />
            <AccountMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm" className="portal-navbar" aria-label={t('Pages')}>
        {isWide && <MainMenu />}
      </AppShell.Navbar>
      <Drawer
        opened={isMenuOpen}
        onClose={menu.close}
        size={280}
        title={<Brand />}
        closeButtonProps={{ 'aria-label': t('Close') }}
      >
        <nav aria-label={t('Pages')}>
          <MainMenu />
        </nav>
      </Drawer>
      <AppShell.Main className={isFull ? 'portal-main portal-main-full' : 'portal-main'}>
        <PrintedOnly>
          <PrintedHead />
        </PrintedOnly>
        <OfflineNotice />
        <BranchNotice />
        <div id="content" tabIndex={-1}>
          <Suspense fallback={<LoadingState />}>
            <Outlet />
          </Suspense>
        </div>
      </AppShell.Main>
      {isSearchOpen && (
        <Suspense>
          <SearchPalette onClose={search.close} />
        </Suspense>
      )}
      <ShortcutsHelp isOpen={isHelpOpen} onClose={help.close} />
    </AppShell>
  );
}

function skipToPage(): void {
  document.querySelector<HTMLElement>('#content')?.focus();
}

function AccountMenu() {
  const t = useTexts();
  const session = useSession();
  const { name, userName, roles } = useViewer();
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <UnstyledButton className="account-button" aria-label={t('Account of {userName}', { userName })}>
          <Avatar component="span" size={30} color="campus" variant="light">
            <Icon name="user" />
          </Avatar>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <div className="account-who">
          <Text fw={600} size="sm" truncate>
            {name}
          </Text>
          <Text size="xs" c="dimmed" truncate>
            {userName} · {roles.join(', ')}
          </Text>
        </div>
        <Menu.Divider />
        <Menu.Item component={Link} to="/portal/account" leftSection={<Icon name="settings" />}>
          {t('My account')}
        </Menu.Item>
        <Menu.Item component="a" href="/manual" leftSection={<Icon name="book" />}>
          {t('Manual')}
        </Menu.Item>
        <Menu.Item leftSection={<Icon name="logout" />} onClick={() => void session.logOut()}>
          {t('Log out')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** The head of a printed page: the school and the time. */
function PrintedHead() {
  const formats = useFormats();
  const { domain } = useViewer();
  return (
    <Group justify="space-between" className="printed-head">
      <strong>{domain.name}</strong>
      <span>{formats.instant(new Date().toISOString())}</span>
    </Group>
  );
}

function OfflineNotice() {
  const t = useTexts();
  const { online } = useNetwork();
  return (
    <div role="status">
      {!online && (
        <div className="offline-notice">
          <Icon name="offline" />{' '}
          {t('You are offline. This page may be out of date. Nothing you enter is lost.')}
        </div>
      )}
    </div>
  );
}
