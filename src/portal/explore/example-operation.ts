/**
 * An example of the operations library: a file of `schema/operations`, one operation under a comment that
 * describes it.
 *
 *   # Fee defaulters                                   its title
 *   # Students who owe fees of the session so far.     what it shows
 *   #
 *   # Topic: Fees                                      one of TOPICS
 *   # For: admin, accountant                           the roles that may run it
 *   # Also: owes, arrears                              other search words; may be left out
 *   # Variables: { "startMonth": "{session.month}" }   JSON up to the end of the comment; may be left out
 *   query FeeDefaulters($startMonth: Month!) { … }
 *
 * Days in the variables are relative to the day when the example is opened (`fillVariables`), so that an
 * example returns rows at any time. Runs in Node and in a browser.
 */

export interface ExampleOperation {
  /** The name of its file without `.graphql`; of a report, the report's name. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly topic: Topic;
  readonly roles: readonly string[];
  /** Other search words; '' for none. */
  readonly also: string;
  readonly kind: 'query' | 'mutation' | 'subscription';
  /** The operation without its comment. */
  readonly document: string;
  /** Days relative to today are still words in them. */
  readonly variables: Readonly<Record<string, unknown>>;
}

/** The topics in the order of the library. */
export const TOPICS = [
  'Students',
  'Attendance',
  'Fees',
  'Results',
  'Staff',
  'Messages',
  'Live',
  'Data',
] as const;
type Topic = (typeof TOPICS)[number];

/** @throws Error that names the file and what its comment lacks */
export function parseExampleOperation(name: string, text: string): ExampleOperation {
  const comment = /^(?:#.*\n)+/.exec(text)?.[0] ?? '';
  const document = text.slice(comment.length).trim();
  const lines = comment.split('\n').map((line) => line.replace(/^# ?/, ''));
  const said = lines.join('\n');
  const [title = ''] = lines;
  const description = said.slice(title.length, said.indexOf('\n\n')).trim().replaceAll('\n', ' ');
  const topic = TOPICS.find((known) => known === /^Topic: (.*)$/m.exec(said)?.[1]);
  const roles = /^For: (.*)$/m.exec(said)?.[1]?.split(', ') ?? [];
  const also = /^Also: (.*)$/m.exec(said)?.[1] ?? '';
  const kind = /^(query|mutation|subscription) \w/.exec(document)?.[1];
  if (title === '' || description === '') throw fault(name, 'a title and a line on what it shows');
  if (topic === undefined) throw fault(name, `"# Topic:" with one of ${TOPICS.join(', ')}`);
  if (roles.length === 0) throw fault(name, '"# For:" with the roles that may run it');
  if (!isKind(kind)) throw fault(name, 'a named query, mutation or subscription under the comment');
  const variables = parseVariables(name, /^Variables: ([\s\S]*)/m.exec(said)?.[1]);
  return { name, title, description, topic, roles, also, kind, document, variables };
}

/**
 * The variables of an example for a day: in each text, a word in braces becomes that day, month or session.
 *
 *   {today} {today-30}             2026-11-20, and 30 days before
 *   {weekday}                      today, or the Friday before a weekend
 *   {month} {month-1}              2026-11, and the month before
 *   {session}                      2026-27, which begins in April
 *   {session.start} {session.month}   2026-04-01, 2026-04
 */
export function fillVariables(
  variables: ExampleOperation['variables'],
  today: string,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, fill(value, today)]));
}

function fill(value: unknown, today: string): unknown {
  if (typeof value === 'string') {
    return value.replaceAll(
      /\{([a-z.]+)(?:-(\d+))?\}/g,
      (written, word: string, back = '0') => resolveWord(word, Number(back), today) ?? written,
    );
  }
  if (Array.isArray(value)) return value.map((element) => fill(element, today));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, fill(inner, today)]));
}

function resolveWord(word: string, back: number, today: string): string | undefined {
  const [year = 0, month = 0] = today.split('-').map(Number);
  const sessionYear = month >= 4 ? year : year - 1;
  const words: Readonly<Record<string, string | undefined>> = {
    today: daysBefore(today, back),
    weekday: daysBefore(today, Math.max(0, weekdayOf(today) - 5)),
    month: daysBefore(`${today.slice(0, 7)}-01`, 0, back)?.slice(0, 7),
    session: `${sessionYear}-${String((sessionYear + 1) % 100).padStart(2, '0')}`,
    'session.start': `${sessionYear}-04-01`,
    'session.month': `${sessionYear}-04`,
  };
  return Object.hasOwn(words, word) ? words[word] : undefined;
}

/** `undefined` before the year 1: such a word stays as it is written, and the gateway refuses it. */
function daysBefore(day: string, days: number, months = 0): string | undefined {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  const before = new Date(Date.UTC(year, month - 1 - months, date - days));
  return before.getUTCFullYear() >= 1 ? before.toISOString().slice(0, 10) : undefined;
}

/** Monday 1 to Sunday 7. */
function weekdayOf(day: string): number {
  return new Date(`${day}T00:00:00Z`).getUTCDay() || 7;
}

function parseVariables(name: string, text: string | undefined): ExampleOperation['variables'] {
  if (text === undefined) return {};
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return { ...parsed };
  } catch (cause) {
    throw fault(name, '"# Variables:" as JSON', cause);
  }
  throw fault(name, '"# Variables:" as a JSON object');
}

function isKind(kind: string | undefined): kind is ExampleOperation['kind'] {
  return kind === 'query' || kind === 'mutation' || kind === 'subscription';
}

function fault(name: string, expected: string, cause?: unknown): Error {
  return new Error(`schema/operations/${name}.graphql: expected ${expected}`, { cause });
}
