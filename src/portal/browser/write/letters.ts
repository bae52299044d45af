import { useQuery } from '@tanstack/react-query';
import { AbsenteesToWrite, DefaultersToWrite, StudentsToWrite } from '../../../generated/portal/write/write';
import { useGateway, useViewer } from '../gateway/use-gateway';
import { monthsBefore, startOfSession } from '../language/days';
import { formats } from '../language/texts';
import { useSavedViews } from '../records/saved-views-menu';
import { chunksOf } from '../shell/use-record-labels';
/** The messages to the parents of students: a template filled in for each, and what is missing. */

export type LetterChannel = 'sms' | 'email';

interface Addressee {
  readonly id: string;
  readonly name: string;
  readonly to: Readonly<Record<LetterChannel, string>>;
  /** By the names of the placeholders. */
  readonly values: Readonly<Record<string, string>>;
}

export interface Letter {
  readonly addressee: Addressee;
  readonly subject: string;
  readonly text: string;
}

export interface Letters {
  readonly letters: readonly Letter[];
  /** Placeholders that no student has. */
  readonly unknown: readonly string[];
  /** Students without an address, and those without a value for a placeholder: they get no message. */
  readonly left: readonly { readonly name: string; readonly missing: string }[];
}

const PLACEHOLDER = /\{\{\s*([^{}|\s]+)\s*(?:\|([^{}]*))?\}\}/g;

/** Students who share a number and would get the same text get it once. */
export function lettersOf(
  addressees: readonly Addressee[],
  {
    channel,
    subject,
    text,
  }: { readonly channel: LetterChannel; readonly subject: string; readonly text: string },
  known: readonly string[],
): Letters {
  const wanted = [...`${subject}\n${text}`.matchAll(PLACEHOLDER)];
  const unknown = [...new Set(wanted.map(([, name = '']) => name))].filter((name) => !known.includes(name));
  const letters = new Map<string, Letter>();
  const left: { name: string; missing: string }[] = [];
  for (const addressee of addressees) {
    const { name, to, values } = addressee;
    const empty = wanted.find(([, field = '', byDefault]) => byDefault === undefined && !values[field]);
    if (to[channel] === '') left.push({ name, missing: channel });
    else if (empty) left.push({ name, missing: empty[1] ?? '' });
    else {
      const fill = (template: string) =>
        template.replaceAll(PLACEHOLDER, (_all, field: string, byDefault = '') => values[field] || byDefault);
      const letter = { addressee, subject: fill(subject), text: fill(text) };
      const key = JSON.stringify([to[channel], letter.subject, letter.text]);
      if (!letters.has(key)) letters.set(key, letter);
    }
  }
  return { letters: [...letters.values()], unknown, left };
}

/** Below the most root fields of one request (GRAPHQL_MAX_ROOT_FIELDS). */
export const LETTERS_PER_REQUEST = 10;

/** The document and the variables that send some letters; a batch that is sent again sends none twice. */
export function sendingOf(
  letters: readonly Letter[],
  channel: LetterChannel,
  batch: string,
  category: string,
) {
  const [field, type] = channel === 'sms' ? ['sendSms', 'SendSmsInput'] : ['sendEmail', 'SendEmailInput'];
  const declared = letters.map((_letter, index) => `$d${index}: ${type}!`).join(', ');
  const fields = letters.map((_letter, index) => `d${index}: ${field}(data: $d${index}) { id }`).join(' ');
  const variables = Object.fromEntries(
    letters.map(({ addressee, subject, text }, index) => [
      `d${index}`,
      {
        to: [addressee.to[channel]],
        text,
        key: `${batch}:${addressee.id}`,
        ...(channel === 'sms' ? { category, recipient: addressee.id, batch } : { subject }),
      },
    ]),
  );
  return { document: `mutation WriteToParents(${declared}) { ${fields} }`, variables };
}

interface AskedSet {
  readonly set: string;
  readonly class: string;
  readonly section: string;
  readonly day: string;
  readonly view: string;
}

interface Page<Node> {
  readonly nodes: readonly Node[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null } | null;
}

/** Nobody would check more messages before sending them. */
export const MOST_ADDRESSEES = 3_000;

async function readAll<Node>(read: (after: string | null) => Promise<Page<Node>>): Promise<readonly Node[]> {
  const all: Node[] = [];
  let after: string | null = null;
  do {
    const page: Page<Node> = await read(after);
    all.push(...page.nodes);
    after = page.pageInfo?.hasNextPage ? page.pageInfo.endCursor : null;
  } while (after !== null && all.length <= MOST_ADDRESSEES);
  return all;
}

/** The students of a set, with the values of the placeholders for each. */
export function useAddressees(asked: AskedSet) {
  const gateway = useGateway();
  const { sessionFirstMonth } = useViewer();
  const views = useSavedViews('registration');
  const place = {
    ...(asked.class !== '' && { class: asked.class }),
    ...(asked.section !== '' && { section: asked.section }),
  };
  const view = views?.find(({ id }) => id === asked.view);
  const isReady = asked.set === 'view' ? view !== undefined : asked.set !== 'class' || asked.class !== '';

  const students = async (where: unknown, oquery?: string | null) =>
    await readAll(async (after) => {
      return (await gateway.execute(StudentsToWrite, { where, oquery: oquery ?? '', after })).records;
    });

  const nodesOf = async (ids: readonly string[]) => {
    if (asked.set === 'class' || asked.set === 'all')
      return await students({ ...equal(place), status: { equals: 'active' } });
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
        return { ...daySheet, nodes: daySheet.rows };
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
        return { ...feeDefaulters, nodes: feeDefaulters.rows };
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
