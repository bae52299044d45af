/** Exports the filtered audit trail as a CSV file. */
import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { printCsvLine } from '../../../base/tables/csv-line.js';
import { AuditOfSchool } from '../../../generated/portal/audit/audit';
import type { GatewayClient } from '../gateway/gateway-client';
import { useGateway } from '../gateway/gateway-context';
import { saveFile } from '../gateway/save-file';
import { useFormats } from '../language/use-formats';
import { useTexts } from '../language/use-texts';
import { Icon } from '../shell/icon';
import { useNotice } from '../shell/use-notice';
import type { AskedChanges, ListedChange } from './audit-filter';

/** The limit of an export, because the browser assembles the file in memory. */
const MOST_EXPORTED = 50_000;
const READ_AT_ONCE = 1_000;

const HEADINGS: readonly (keyof ListedChange)[] = [
  ...(['id', 'at', 'principal', 'credential', 'operation', 'collection', 'recordId', 'toVersion'] as const),
  ...(['requestOperation', 'requestId'] as const),
];

export function AuditExport({ asked }: { readonly asked: AskedChanges }) {
  const t = useTexts();
  const formats = useFormats();
  const notice = useNotice();
  const gateway = useGateway();
  const { mutate, isPending } = useMutation({
    mutationFn: async () => {
      const parts = [printCsvLine([...HEADINGS])];
      let count = 0;
      for (let before: string | null = null; count < MOST_EXPORTED; ) {
        const changes = await readChanges(gateway, asked, before);
        parts.push(changes.map((one) => printCsvLine(HEADINGS.map((name) => textOf(one[name])))).join(''));
        count += changes.length;
        before = changes.at(-1)?.id ?? null;
        if (changes.length < READ_AT_ONCE) break;
      }
      saveFile(new Blob(parts, { type: 'text/csv' }), 'audit.csv');
      return count;
    },
    onSuccess: (count) => {
      if (count < MOST_EXPORTED) return;
      notice(
        t('The file has the newest {count}. Filter by date to get the rest.', {
          count: formats.number(count),
        }),
      );
    },
  });
  return (
    <Button
      variant="default"
      leftSection={<Icon name="download" />}
      loading={isPending}
      onClick={() => mutate()}
    >
      {t('Download CSV')}
    </Button>
  );
}

async function readChanges(gateway: GatewayClient, asked: AskedChanges, before: string | null) {
  const { auditTrail } = await gateway.execute(AuditOfSchool, { ...asked, first: READ_AT_ONCE, before });
  return auditTrail;
}

function textOf(value: string | number | null): string | null {
  return typeof value === 'number' ? String(value) : value;
}
