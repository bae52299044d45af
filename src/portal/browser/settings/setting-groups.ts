export interface SettingGroup<Setting> {
  readonly subject: SettingSubject;
  readonly settings: readonly Setting[];
}

/** `others` are the settings that a school adds for its own scripts. */
export type SettingSubject = keyof typeof NAMES | 'templates' | 'others';

/** The subjects of settings in the order of the page, with their names. */
const NAMES = {
  school: [
    ...(['schoolName', 'schoolAddress', 'schoolLogo', 'timezone', 'language'] as const),
    ...(['currency', 'callingCode', 'udiseCode'] as const),
  ],
  year: ['sessionFirstMonth', 'weeklyOffs', 'schoolStartsAt', 'leaveCountsPresent'],
  results: ['passPercent', 'grades', 'rankMethod'],
  fees: ['receiptSeries', 'books_closed_until', 'tallyCompany'],
  messages: ['smtpUrl', 'mailFrom', 'smsUrl', 'smsSender'],
  data: ['KEEP_HISTORY_DAYS', 'topicRoles'],
} as const;

/** The settings by subject. Empty groups are left out. */
export function groupSettings<Setting extends { readonly name: string }>(
  settings: readonly Setting[],
): readonly SettingGroup<Setting>[] {
  const isTemplate = ({ name }: Setting) => name.startsWith('mailTemplate.');
  const subjects = Object.keys(NAMES) as (keyof typeof NAMES)[];
  const known: ReadonlySet<string> = new Set(Object.values(NAMES).flat());
  const groups: readonly SettingGroup<Setting>[] = [
    ...subjects.map((subject) => ({
      subject,
      settings: NAMES[subject].flatMap((name) => settings.filter((setting) => setting.name === name)),
    })),
    { subject: 'templates', settings: settings.filter(isTemplate) },
    {
      subject: 'others',
      settings: settings.filter((setting) => !known.has(setting.name) && !isTemplate(setting)),
    },
  ];
  return groups.filter((group) => group.settings.length > 0);
}

/**
 * The titles of the settings that the gateway reads, by their names in programs. `hindi-words.json`
 * translates them.
 */
export const SETTING_TITLES: Readonly<Record<string, string>> = {
  schoolName: 'Name of the school',
  timezone: 'Time zone',
  schoolAddress: 'Address of the school',
  schoolLogo: 'Logo of the school',
  language: 'Language of scripts',
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
