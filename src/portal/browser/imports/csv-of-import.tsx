/** A button that downloads one of the CSV tables of an import. */
import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useGateway } from '../gateway/gateway-context';
import { saveFile } from '../gateway/save-file';
import { Icon } from '../shell/icon';
import { ProblemState } from '../shell/states';

export interface CsvOfImportProps {
  readonly id: string;
  readonly file: 'errors.csv' | 'outcomes.csv';
  readonly label: string;
}

export function CsvOfImport({ id, file, label }: CsvOfImportProps) {
  const gateway = useGateway();
  const download = useMutation({
    mutationFn: async () => saveFile(await gateway.fetchFile(`/imports/${id}/${file}`), file),
  });
  return (
    <>
      <Button
        variant="default"
        leftSection={<Icon name="download" />}
        loading={download.isPending}
        onClick={() => download.mutate()}
      >
        {label}
      </Button>
      {download.error && <ProblemState problem={download.error} retry={() => download.mutate()} />}
    </>
  );
}
