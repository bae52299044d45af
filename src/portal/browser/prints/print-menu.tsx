import { Button, Menu } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTexts } from '../language/use-texts';
import { Icon } from '../shell/icon';
import { type PrintHead, usePrints } from './print-head';

interface PrintMenuProps {
  /** The documents of a collection; for one record also those of any collection. */
  readonly collection?: string;
  readonly isOne?: boolean;
  /** The documents of a report; its table too is printed. */
  readonly report?: string;
  /** The address of a document: which records, and what is chosen. */
  address(print: PrintHead): Readonly<Record<string, string>>;
}

/** The documents that can be printed here; nothing if there are none. */
export function PrintMenu({ collection, isOne = false, report, address }: PrintMenuProps) {
  const t = useTexts();
  const prints = usePrints().filter((print) => {
    if (print.leads) return false;
    if (report !== undefined) return print.report === report;
    if (isOne) return print.pages === 'each' && ['*', collection].includes(print.collection);
    return print.collection === collection;
  });
  if (prints.length === 0 && report === undefined) return null;
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" leftSection={<Icon name="print" />}>
          {t('Print')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {report !== undefined && <Menu.Item onClick={() => window.print()}>{t('This table')}</Menu.Item>}
        {prints.map((print) => (
          <Menu.Item
            key={print.name}
            component={Link}
            to={`/portal/prints/${print.name}`}
            search={{ ...(print.collection === '*' && { collection }), ...address(print) } as never}
            leftSection={<Icon name="file" />}
          >
            {print.title}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
