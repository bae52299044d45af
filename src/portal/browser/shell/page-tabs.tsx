import { Tabs } from '@mantine/core';
import { Children, isValidElement, type ReactNode } from 'react';
import { useAddress } from './page-filter';

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
