import { describe, expect, it } from '@jest/globals';
import {
  findDefaultView,
  isSameShown,
  SHOWN_RECORDS,
  toShownRecords,
  toViewFields,
} from '../../src/portal/browser/records/view-address.js';

describe('a saved view', () => {
  const shown = { search: 'a', oquery: 'class=5', where: '', sort: '-name', columns: 'name,class' };

  it('keeps what is asked, and says the same again', () => {
    const fields = toViewFields(shown);
    expect(fields).toEqual({
      search: 'a',
      oquery: 'class=5',
      where: null,
      sort: '-name',
      columns: ['name', 'class'],
    });
    expect(isSameShown(toShownRecords(fields), shown)).toBe(true);
    expect(isSameShown(toShownRecords(fields), { ...shown, sort: '' })).toBe(false);
    expect(toShownRecords(toViewFields(SHOWN_RECORDS))).toEqual(SHOWN_RECORDS);
  });

  it('opens the collection, if it is one of the viewer before one that is shared', () => {
    const own = { isDefault: true, owner: { id: 'me' } };
    const shared = { isDefault: true, owner: { id: 'other' } };
    const plain = { isDefault: null, owner: { id: 'me' } };
    expect(findDefaultView([plain, shared, own], 'me')).toBe(own);
    expect(findDefaultView([plain, shared], 'me')).toBe(shared);
    expect(findDefaultView([plain, { isDefault: false, owner: null }], 'me')).toBeUndefined();
  });
});
