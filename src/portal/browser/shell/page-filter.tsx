import { Group, Tabs } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useMatch, useNavigate, useRouter } from '@tanstack/react-router';
import {
  Children,
  type ComponentProps,
  isValidElement,
  type ReactNode,
  useCallback,
  useMemo,
  useState,
  useSyncExternalStore,
} from 'react';
import { dayAfter } from '../language/days';
import { t } from '../language/texts';
import { Icon } from './icon';
import { searchOf, TextButton } from './text-button';
import { TextField } from './text-field';

export interface PageFilterProps {
  /** Whether the filter restricts anything. */
  readonly isSet: boolean;
  onClear(): void;
  /** Whether the filter has so few inputs that a phone shows them too. */
  readonly isShort?: boolean;
  readonly children: ReactNode;
}

/** The inputs that filter the list below. On a phone, a button opens them. */
export function PageFilter({ isSet, onClear, isShort = false, children }: PageFilterProps) {
  const isNarrow = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  const [isOpen, setIsOpen] = useState(false);
  const isFolded = isNarrow && !isShort;
  const clear = isSet && <TextButton label={t('Clear the filter')} onClick={onClear} />;
  return (
    <>
      {isFolded && (
        <Group gap="xs" mb="sm">
          <TextButton
            label={t('Filter')}
            variant={isSet ? 'light' : 'default'}
            icon="filter"
            aria-expanded={isOpen}
            onClick={() => setIsOpen(!isOpen)}
          />
          {clear}
        </Group>
      )}
      {(!isFolded || isOpen) && (
        <Group gap="xs" mb="sm" align="flex-end" className="page-filter">
          {children}
          {!isFolded && clear}
        </Group>
      )}
    </>
  );
}

interface FindInputProps extends Omit<ComponentProps<typeof TextField>, 'label'> {
  /** The label and placeholder, e.g. "Find a user". */
  readonly label: string;
}

/** The field that filters a list by words. */
export function FindInput({ label, ...props }: FindInputProps) {
  const words = { placeholder: label, 'aria-label': label };
  return <TextField type="search" leftSection={<Icon name="search" />} {...words} {...props} />;
}

/**
 * Keeps the state of a page in the query of its address, so that the address can be shared and the Back
 * button restores it. Empty and default values are left out.
 *
 * The state is read from the address itself. The router shows a new address only when its page is ready,
 * so the next action of a quick user would see the previous state. While another page is being opened,
 * the state of this one stays as it is.
 *
 * Returns the state, how it is changed, and the value of each part for its input.
 */
export function useAddress<State extends Readonly<Record<string, string>>>(
  defaults: State,
): readonly [
  state: State,
  change: (changes: Partial<State>, how?: 'push' | 'replace') => void,
  field: (name: keyof State & string) => { readonly value: string; onChange(value: string): void },
] {
  const { history } = useRouter();
  const navigate = useNavigate();
  const shown = useMatch({ strict: false });
  const pathname = decodeURI(shown.pathname);
  const isOpen = useCallback(() => decodeURI(history.location.pathname) === pathname, [history, pathname]);
  const query = useSyncExternalStore(history.subscribe, () =>
    isOpen() ? history.location.search : undefined,
  );
  const search: Readonly<Record<string, string | undefined>> = useMemo(
    () => (query === undefined ? shown.search : Object.fromEntries(new URLSearchParams(query))),
    [query, shown.search],
  );
  const state = Object.fromEntries(
    Object.entries(defaults).map(([name, byDefault]) => [name, search[name] ?? byDefault]),
  ) as State;
  const change = useCallback(
    (changes: Partial<State>, how: 'push' | 'replace' = 'push') => {
      if (!isOpen()) return;
      void navigate({
        to: '.',
        search: searchOf((before: Readonly<Record<string, string>>) => ({ ...before, ...changes })),
        replace: how === 'replace',
        resetScroll: false,
      });
    },
    [navigate, isOpen],
  );
  const field = (name: keyof State & string) => ({
    value: state[name] ?? '',
    onChange: (value: string) => change({ [name]: value } as Partial<State>, 'replace'),
  });
  return [state, change, field];
}

/**
 * The conditions of a filter that are set. The day `until` is included: the gateway reads a bare day as its
 * midnight in the time zone of the school.
 */
export function setConditions(filter: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const set = Object.entries(filter).filter(([, value]) => value.trim() !== '');
  return Object.fromEntries(
    set.map(([name, value]) => [name, name === 'until' ? dayAfter(value) : value.trim()]),
  );
}

/** Whether a filter in the address restricts anything; '' stands for no restriction. */
export function isFiltering(filter: Readonly<Record<string, string>>): boolean {
  return Object.values(filter).some((value) => value !== '');
}

interface PageTabProps {
  /** The name of the tab in the address. */
  readonly name: string;
  readonly label: string;
  readonly children: ReactNode;
}

export function PageTab({ name, children }: PageTabProps) {
  return <Tabs.Panel value={name}>{children}</Tabs.Panel>;
}

interface PageTabsProps {
  /** The parameter of the address that names the open tab. */
  readonly parameter?: string;
  /** Each a `PageTab`. */
  readonly children: ReactNode;
}

/** The tabs of a page. The first is open if the address names none of them. */
export function PageTabs({ parameter = 'tab', children }: PageTabsProps) {
  const tabs = Children.toArray(children).flatMap((tab) =>
    isValidElement<PageTabProps>(tab) ? tab.props : [],
  );
  const first = tabs[0]?.name ?? '';
  const [address, change] = useAddress({ [parameter]: first });
  return (
    <Tabs
      value={tabs.find(({ name }) => name === address[parameter])?.name ?? first}
      onChange={(next) => change({ [parameter]: next ?? first }, 'replace')}
      keepMounted={false}
    >
      <Tabs.List mb="md" className="no-print">
        {tabs.map(({ name, label }) => (
          <Tabs.Tab key={name} value={name}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {children}
    </Tabs>
  );
}
