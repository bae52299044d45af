/** The messages to the parents of students: a template filled in for each, and what is missing. */

export type LetterChannel = 'sms' | 'email';

export interface Addressee {
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
