/**
 * The titles of the settings that the gateway reads, by their names in programs. `hindi-words.json`
 * translates them.
 */
export const SETTING_TITLES: Readonly<Record<string, string>> = {
  schoolName: 'Name of the school',
  timezone: 'Time zone',
  callingCode: 'Calling code of the country',
  udiseCode: 'UDISE+ code',
  tallyCompany: 'Company in Tally',
  currency: 'Currency',
  sessionFirstMonth: 'First month of a session',
  weeklyOffs: 'Weekly days off',
  leaveCountsPresent: 'Leave counts as present',
  grades: 'Grades',
  passPercent: 'Pass percentage',
  rankMethod: 'Ranks after a tie',
  schoolStartsAt: 'School starts at',
  receiptSeries: 'Series of receipts',
  books_closed_until: 'Books closed until',
  topicRoles: 'Who may listen to topics',
  smtpUrl: 'Mail server',
  mailFrom: 'Sender of emails',
  smsUrl: 'SMS provider',
  smsSender: 'Sender of text messages',
  KEEP_HISTORY_DAYS: 'Days that history is kept',
};
