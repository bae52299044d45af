import { useQueries } from '@tanstack/react-query';
import { UserNames } from '../../../generated/portal/shell/user-names';
import { useGateway } from '../gateway/gateway-context';
import { useViewer } from './viewer';

const USERS = 'pltf_user';
const ASKED_AT_ONCE = 100;

/**
 * What users are called, by the rights of the viewer to their records: who may not read a name, and what is
 * no user, such as a task, is shown by its id.
 */
export function useUserNames(ids: readonly string[]): (id: string) => string {
  const gateway = useGateway();
  const { collections, id: own, name: ownName } = useViewer();
  const mayRead = collections.some(({ name, canRead }) => name === USERS && canRead);
  const asked = [...new Set(ids)].filter((id) => id !== own);
  // In the order in which they came up: what was asked before is not asked again.
  const parts = Array.from({ length: Math.ceil(asked.length / ASKED_AT_ONCE) }, (_, part) =>
    asked.slice(part * ASKED_AT_ONCE, (part + 1) * ASKED_AT_ONCE),
  );
  const answers = useQueries({
    queries: parts.map((part) => ({
      queryKey: [UserNames.name, part],
      queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
        gateway.execute(UserNames, { where: { _id: { in: part } } }, signal),
      enabled: mayRead,
      staleTime: Number.POSITIVE_INFINITY,
    })),
  });
  const names = new Map<string, string>([[own, ownName]]);
  for (const { data } of answers) {
    for (const { id, data: record } of data?.records.nodes ?? []) {
      const { name } = record as { readonly name?: unknown };
      if (typeof name === 'string') names.set(id, name);
    }
  }
  return (id) => names.get(id) || id;
}
