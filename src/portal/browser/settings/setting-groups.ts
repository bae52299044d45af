import { phrase } from '../language/use-texts';

export interface SettingGroup<Setting> {
  readonly title: string;
  readonly settings: readonly Setting[];
}

/** What settings are about, in the order of the page, with their names. */
const GROUPS: readonly (readonly [title: string, names: readonly string[]])[] = [
  [phrase('About the school'), ['schoolName', 'timezone', 'currency', 'udiseCode']],
  [
    phrase('Year and attendance'),
    ['sessionFirstMonth', 'weeklyOffs', 'schoolStartsAt', 'leaveCountsPresent'],
  ],
  [phrase('Results'), ['passPercent', 'grades', 'rankMethod']],
  [phrase('Fees and accounts'), ['receiptSeries', 'tallyCompany']],
  [phrase('Emails and text messages'), ['smtpUrl', 'mailFrom', 'smsUrl', 'smsSender']],
  [phrase('History and live data'), ['KEEP_HISTORY_DAYS', 'topicRoles']],
];

const OTHERS = phrase('Other settings');
const TEMPLATES = phrase('Mail templates');

/** The settings by what they are about; groups that would be empty are left out. */
export function groupSettings<Setting extends { readonly name: string }>(
  settings: readonly Setting[],
): readonly SettingGroup<Setting>[] {
  const isTemplate = ({ name }: Setting) => name.startsWith('mailTemplate.');
  const known = new Set(GROUPS.flatMap(([, names]) => names));
  const groups = [
    ...GROUPS.map(([title, names]) => ({
      title,
      settings: names.flatMap((name) => settings.filter((setting) => setting.name === name)),
    })),
    { title: TEMPLATES, settings: settings.filter(isTemplate) },
    {
      title: OTHERS,
      settings: settings.filter((setting) => !known.has(setting.name) && !isTemplate(setting)),
    },
  ];
  return groups.filter((group) => group.settings.length > 0);
}
