import type { ScriptOutlineFragment } from '../../../generated/portal/scripts/scripts';
import type { Texts } from '../language/use-texts';

type ScriptTriggers = Pick<
  ScriptOutlineFragment,
  'before' | 'after' | 'schedule' | 'topics' | 'endpoint' | 'roles'
>;

/** The triggers of a script, each as a short text. */
export function describeTriggers(script: ScriptTriggers, t: Texts): readonly string[] {
  const { before, after, schedule, topics, endpoint, roles } = script;
  return [
    ...before.map(({ collection }) => t('before writes of {collection}', { collection })),
    ...after.map(({ collection }) => t('after writes of {collection}', { collection })),
    ...(schedule === null ? [] : [t('by the clock: {schedule}', { schedule })]),
    ...topics.map((topic) => t('messages of {topic}', { topic })),
    ...(endpoint === null ? [] : [t('requests, {methods}', { methods: endpoint.methods.join(', ') })]),
    ...(roles.length === 0 ? [] : [t('called by {roles}', { roles: roles.join(', ') })]),
  ];
}
