import { useLingui } from '@lingui/react';
import { Menu } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { PrintHead } from '../../../school/prints/print-definition.js';
import { useViewer } from '../gateway/use-gateway';
import { t } from '../language/texts';
import { Icon } from '../shell/icon';
import { searchOf, TextButton } from '../shell/text-button';

interface PrintMenuProps {
  /** The documents of a collection; for one record also those of any collection. */
  readonly collection?: string;
  readonly isOne?: boolean;
  /** The documents of a report, whose table can be printed too. */
  readonly report?: string;
  /** The address of a document, with its records and choices. */
  address(print: PrintHead): Readonly<Record<string, string>>;
}

/** The documents that can be printed here; nothing if there are none. */
export function PrintMenu({ collection, isOne = false, report, address }: PrintMenuProps) {
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
        <TextButton label={t('Print')} icon="print" />
      </Menu.Target>
      <Menu.Dropdown>
        {report !== undefined && <Menu.Item onClick={() => window.print()}>{t('This table')}</Menu.Item>}
        {prints.map((print) => (
          <Menu.Item
            key={print.name}
            component={Link}
            to={`/portal/prints/${print.name}`}
            search={searchOf({ ...(print.collection === '*' && { collection }), ...address(print) })}
            leftSection={<Icon name="file" />}
          >
            {print.title}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

/** The documents that the viewer may print, with their titles in the language of the page. */
export function usePrints(): readonly PrintHead[] {
  const { locale } = useLingui().i18n;
  return (useViewer().prints as readonly PrintHead[]).map((head) => ({
    ...head,
    title: head.translations[locale]?.title ?? head.title,
  }));
}
