import { type UseMutationResult, useMutation } from '@tanstack/react-query';
import { saveFile } from '../gateway/save-file';
import { useGateway } from '../gateway/use-gateway';

interface NamedFile {
  readonly id: string;
  readonly name: string;
}

/** Downloads a file of the school. The browser does not open it, whatever its content. */
export function useFileDownload(): UseMutationResult<void, Error, NamedFile> {
  const gateway = useGateway();
  return useMutation({
    mutationFn: async ({ id, name }: NamedFile) => saveFile(await gateway.fetchFile(`/files/${id}`), name),
  });
}
