import { useQuery } from '@tanstack/react-query';
import { AbsenteesToWrite, DefaultersToWrite, StudentsToWrite } from '../../../generated/portal/write/write';
import { useGateway, useViewer } from '../gateway/use-gateway';
import { monthsBefore, startOfSession } from '../language/days';
import { useFormats } from '../language/use-texts';
import { useSavedViews } from '../records/use-saved-views';
import type { Addressee } from './letters';

export interface AskedSet {
  readonly set: string;
  readonly class: string;
  readonly section: string;
  readonly day: string;
  readonly view: string;
}

interface Page<Node> {
  readonly nodes: readonly Node[];
  readonly after: string | null;
}

/** More would not be looked through before they are sent. */
export const MOST_ADDRESSEES = 3_000;

async function readAll<Node>(read: (after: string | null) => Promise<Page<Node>>): Promise<readonly Node[]> {
  const all: Node[] = [];
  let after: string | null = null;
  do {
    const page: Page<Node> = await read(after);
    all.push(...page.nodes);
    ({ after } = page);
  } while (after !== null && all.length <= MOST_ADDRESSEES);
  return all;
}

const afterOf = (page: { readonly hasNextPage: boolean; readonly endCursor: string | null } | null) =>
  page?.hasNextPage ? page.endCursor : null;

/** The students of a set, with what a template can say of each. */
export function useAddressees(asked: AskedSet) {
  const gateway = useGateway();
  const formats = useFormats();
  const { sessionFirstMonth } = useViewer();
  const { views } = useSavedViews('registration');
  const place = {
    ...(asked.class !== '' && { class: asked.class }),
    ...(asked.section !== '' && { section: asked.section }),
  };
  const view = views?.find(({ id }) => id === asked.view);
  const isReady = asked.set === 'view' ? view !== undefined : asked.set !== 'class' || asked.class !== '';

  const students = async (where: unknown, oquery?: string | null) =>
    await readAll(async (after) => {
      const { records } = await gateway.execute(StudentsToWrite, { where, oquery: oquery ?? '', after });
      return { nodes: records.nodes, after: afterOf(records.pageInfo) };
    });

  const nodesOf = async (ids: readonly string[]) => {
    if (asked.set === 'class') return await students({ ...equal(place), status: { equals: 'active' } });
    if (asked.set !== 'view') {
      const parts = chunksOf(ids, 500).map((some) => students({ _id: { in: some } }));
      return (await Promise.all(parts)).flat();
    }
    const search = view?.search ? [{ name: { contains: view.search } }] : [];
    return await students({ and: [view?.where ? JSON.parse(view.where) : {}, ...search] }, view?.oquery);
  };

  const read = async (): Promise<readonly Addressee[]> => {
    const own = new Map<string, Readonly<Record<string, string>>>();
    if (asked.set === 'absent') {
      const rows = await readAll(async (after) => {
        const { daySheet } = await gateway.execute(AbsenteesToWrite, { date: asked.day, ...place, after });
        return { nodes: daySheet.rows, after: afterOf(daySheet.pageInfo) };
      });
      for (const { studentId, status } of rows)
        if (status === 'absent') own.set(studentId, { day: formats.day(asked.day) });
    }
    if (asked.set === 'defaulters') {
      const start = startOfSession(formats.today, sessionFirstMonth);
      const rows = await readAll(async (after) => {
        const { feeDefaulters } = await gateway.execute(DefaultersToWrite, {
          ...{ from: monthsBefore(start, 12).slice(0, 7), to: formats.today.slice(0, 7), after },
          ...place,
        });
        return { nodes: feeDefaulters.rows, after: afterOf(feeDefaulters.pageInfo) };
      });
      for (const { studentId, balance } of rows) own.set(studentId, { due: formats.money(balance) });
    }
    const nodes = await nodesOf([...own.keys()]);
    return nodes.map(({ id, data }) => addresseeOf(id, data as Data, own.get(id)));
  };
  return {
    isReady,
    views: views ?? [],
    ...useQuery({ queryKey: ['addressees', asked, formats.today], queryFn: read, enabled: isReady }),
  };
}

function equal(place: Readonly<Record<string, string>>) {
  return Object.fromEntries(Object.entries(place).map(([name, value]) => [name, { equals: value }]));
}

export function chunksOf<One>(some: readonly One[], size: number): readonly (readonly One[])[] {
  return Array.from({ length: Math.ceil(some.length / size) }, (_none, index) =>
    some.slice(index * size, (index + 1) * size),
  );
}

type Data = Readonly<Record<string, unknown>>;

function addresseeOf(id: string, data: Data, own: Readonly<Record<string, string>> = {}): Addressee {
  const textOf = (name: string) => String(data[name] ?? '').trim();
  const name = textOf('name');
  return {
    ...{ id, name },
    to: { sms: textOf('guardian_phone'), email: textOf('email') },
    values: {
      ...{ name, class: textOf('class'), section: textOf('section'), roll: textOf('roll_no') },
      ...{ admission: textOf('sequence'), father: textOf('father_name'), ...own },
    },
  };
}
