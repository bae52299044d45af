/** Acts as schema/acts declares them, and as `me` lists those of the viewer. */

import { i18n } from '@lingui/core';
import { Acts } from '../../../generated/portal/acts/acts';
import type { Act, ActPlace } from '../../../school/acts/act-definition.js';
import { useOperation } from '../gateway/use-gateway';

/** A record with its `_id`, or a row of a report. */
export type ActSubject = Readonly<Record<string, unknown>>;

/** The acts that the viewer may do at a place. */
export function useActs(place: ActPlace): readonly Act[] {
  const { data } = useOperation(Acts, {});
  const wanted = JSON.stringify(place);
  const acts = (data?.me.acts ?? []) as readonly Act[];
  return acts.filter(({ on }) => on.some((one) => JSON.stringify(one) === wanted));
}

/** A text of an act in the language of the page. */
export function sayAct({ translations }: Act, text: string): string {
  return translations?.[i18n.locale]?.[text] ?? text;
}

/** The value at a path such as `student.value`. */
export function readAt(subject: ActSubject, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((at, name) => (at as ActSubject | null | undefined)?.[name] ?? undefined, subject);
}

/** Why the act is not possible with this record; `undefined` if it is. */
export function findObstacle({ when = [] }: Act, subject: ActSubject): string | undefined {
  return when.find(({ field, is }) => {
    const value = readAt(subject, field);
    return is ? !is.includes(value) : value === undefined || value === '';
  })?.otherwise;
}

/** Fills in a text: `{studentId|_id}` is the first of these fields that has a value. */
export function fillIn(text: string, subject: ActSubject, encode = (value: string) => value): string {
  return text.replaceAll(/\{([^{}]+)\}/g, (_all, fields: string) => {
    const value = fields
      .split('|')
      .map((field) => readAt(subject, field))
      .find((one) => typeof one === 'string' || typeof one === 'number');
    return value === undefined ? '' : encode(String(value));
  });
}

/** The variables of the document: the values by their paths, as objects. */
export function variablesOf(values: ReadonlyMap<string, unknown>): Record<string, unknown> {
  const variables: Record<string, unknown> = {};
  for (const [path, value] of values) {
    const names = path.split('.');
    const last = names.pop() ?? '';
    let at = variables;
    for (const name of names) {
      at[name] ??= {};
      at = at[name] as Record<string, unknown>;
    }
    at[last] = value;
  }
  return variables;
}
