import { describe, expect, it } from '@jest/globals';
import { groupSettings } from '../../src/portal/browser/settings/setting-groups.js';
import { KNOWN_PROPERTIES } from '../../src/store/catalog/known-properties.js';

const named = (...names: readonly string[]) => names.map((name) => ({ name }));

describe('the groups of settings', () => {
  it('hold each setting that the gateway knows, and none of these is among the others', () => {
    const settings = KNOWN_PROPERTIES.filter(({ name }) => !name.startsWith('mailTemplate.'));
    const groups = groupSettings(settings);
    expect(groups.map(({ subject }) => subject)).not.toContain('others');
    const grouped = groups.flatMap((group) => group.settings);
    expect(grouped.toSorted(byName)).toEqual(settings.toSorted(byName));
  });

  it('leave out what would be empty, and have a place for templates and for what a school adds', () => {
    expect(groupSettings(named('passPercent', 'mailTemplate.dues', 'busColour'))).toEqual([
      { subject: 'results', settings: named('passPercent') },
      { subject: 'templates', settings: named('mailTemplate.dues') },
      { subject: 'others', settings: named('busColour') },
    ]);
  });
});

function byName(one: { readonly name: string }, other: { readonly name: string }): number {
  return one.name < other.name ? -1 : 1;
}
