import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useGateway } from '../gateway/gateway-context';
import { saveFile } from '../gateway/save-file';
import { useTexts } from '../language/use-texts';
import { Icon } from '../shell/icon';
import { useNotice } from '../shell/use-notice';
import type { AskableReport } from './askable-report';
import { restAddress } from './rest-address';
import { useIndexedReport } from './use-indexed-report';

export interface ReportDownloadsProps {
  readonly name: string;
  readonly form: AskableReport;
  readonly values: Readonly<Record<string, string>>;
}

/** Downloads all rows of the report as a file, including those not shown. */
export function ReportDownloads({ name, form, values }: ReportDownloadsProps) {
  const t = useTexts();
  const notice = useNotice();
  const gateway = useGateway();
  const indexed = useIndexedReport(name);
  const { mutate, isPending } = useMutation({
    mutationFn: async (format: string) => {
      if (!indexed) return;
      const file = await gateway.fetchFile(restAddress(indexed, { form, values, format }));
      saveFile(file, `${name}.${format}`);
    },
    onError: ({ message }) => notice(message, 'failed'),
  });
  return ['csv', 'xlsx'].map((format) => (
    <Button
      key={format}
      variant="default"
      leftSection={<Icon name="download" />}
      disabled={!indexed}
      loading={isPending}
      onClick={() => mutate(format)}
    >
      {t('{format} file', { format: format.toUpperCase() })}
    </Button>
  ));
}
