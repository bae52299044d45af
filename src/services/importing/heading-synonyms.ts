/** Headings with the same meaning in the sheets of Indian schools, in English and in Hindi. */

/** The names of a line mean the same. The first is the one that our fields or their descriptions use. */
const SAME: readonly (readonly string[])[] = [
  ['admission no', 'adm no', 'admn no', 'admsn no', 'admission id', 'adm id', 'adm', 'admno', 'gr no'],
  ['admission no', 'scholar no', 'enrolment no', 'enrollment no', 'प्रवेश क्रमांक', 'प्रवेश संख्या'],
  ['name', 'full name', 'student name', 'name of student', 'name of the student', 'pupil name', 'नाम'],
  ['name', 'child name', "child's name", 'name of child', 'छात्र का नाम', 'विद्यार्थी का नाम'],
  ['class', 'cls', 'std', 'standard', 'grade', 'class name', 'present class', 'कक्षा'],
  ['section', 'sec', 'sect', 'div', 'division', 'section name', 'अनुभाग'],
  ['roll no', 'roll', 'r no', 'class roll no', 'अनुक्रमांक', 'रोल नंबर'],
  ['gender', 'sex', 'm f', 'boy girl', 'लिंग'],
  ['date of birth', 'dob', 'birth date', 'birthday', 'born on', 'जन्म तिथि', 'जन्म दिनांक'],
  ['father name', "father's name", 'father', 'name of father', 'f name', 'पिता का नाम', 'पिता'],
  ['mother name', "mother's name", 'mother', 'name of mother', 'm name', 'माता का नाम', 'माता'],
  ['guardian phone', 'phone', 'phone no', 'mobile', 'mobile no', 'mob', 'mob no', 'cell no', 'मोबाइल'],
  ['guardian phone', 'contact', 'contact no', 'telephone', 'tel no', 'whatsapp no', 'मोबाइल नंबर'],
  ['guardian phone', 'parent mobile', 'parent mobile no', 'parent phone', 'parent contact no'],
  ['email', 'e mail', 'mail id', 'email id', 'email address', 'parent email', 'ईमेल'],
  ['address', 'residential address', 'permanent address', 'home address', 'residence', 'पता'],
  ['category', 'caste', 'caste category', 'social category', 'श्रेणी', 'जाति'],
  ['session', 'academic session', 'academic year', 'school year', 'सत्र'],
  ['admitted on', 'doa', 'doj', 'date of joining', 'joining date', 'प्रवेश तिथि', 'प्रवेश दिनांक'],
  ['left on', 'tc date', 'date of tc', 'date of leaving', 'leaving date', 'dol', 'date left', 'exit date'],
  ['left on', 'withdrawal date', 'date of withdrawal', 'withdrawn on', 'relieving date', 'date of relieving'],
  ['left on', 'date of exit', 'left school on', 'school leaving date', 'date of leaving school'],
  ['left on', 'last day', 'last date', 'last working day', 'last attended on', 'discharge date'],
  ['left on', 'छोड़ने की तिथि', 'छोड़ने का दिनांक', 'निष्कासन तिथि', 'नाम पृथक दिनांक'],
  ['created', 'date', 'day', 'dt', 'attendance date', 'date of attendance', 'marked on', 'mark date'],
  ['created', 'sent on', 'sent date', 'date sent', 'दिनांक', 'दिनाँक', 'तारीख', 'तिथि', 'उपस्थिति दिनांक'],
  ['route', 'bus route', 'van route', 'transport route'],
];

/** Headings that name two fields without a separator between them. */
const CLASS_AND_SECTION = [
  ...['class section', 'class sec', 'std div', 'std sec', 'grade section', 'कक्षा अनुभाग'],
].map(plainHeading);

const namesByHeading: ReadonlyMap<string, string> = new Map(
  SAME.flatMap(([name = '', ...others]) =>
    others.map((other): [string, string] => [plainHeading(other), plainHeading(name)]),
  ),
);

/** The first name of the line with this heading, as `plainHeading` prints it. */
export function findHeadingSynonym(heading: string): string | undefined {
  return namesByHeading.get(plainHeading(heading));
}

/** The names of the two fields that a joined heading means. */
export function findJoinedHeadings(heading: string): readonly string[] | undefined {
  const isJoined = CLASS_AND_SECTION.includes(plainHeading(heading));
  return isJoined ? ['class', 'section'] : undefined;
}

/** The fields that the cells of a heading may contain, if no other column has them: 10A of a class. */
export function findHeldHeadings(heading: string): readonly string[] | undefined {
  const meant = findHeadingSynonym(heading) ?? plainHeading(heading);
  return meant === 'class' ? ['class', 'section'] : undefined;
}

/** The words of a heading or of a field's name, in lower case and in the singular, in their order. */
export function headingWords(name: string): readonly string[] {
  return (
    name
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  ).map(inSingular);
}

/** In lower case, without an article, spaces and signs; a number is a `no`. */
export function plainHeading(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/^(the|a|an)\s+/, '')
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '')
    .replace(/number$/, 'no');
}

/** Titles of collections are plural, headings mostly singular. */
function inSingular(word: string): string {
  return word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
}

/** Words for a column with days that do not name the event. */
const WORDS_OF_DAYS: ReadonlySet<string> = new Set([
  ...['date', 'day', 'dt', 'time', 'when', 'of', 'on', 'at', 'the', 'for', 'was', 'ha', 'been'],
]);

/**
 * The event of a day, as the stems of its words: `admit` of "Date of Admission" and of `admitted_on`.
 * `undefined` if nothing remains, or if no word of the heading is for a day.
 */
export function eventOf(name: string): string | undefined {
  const words = headingWords(name);
  const events = words.filter((word) => !WORDS_OF_DAYS.has(word));
  if (events.length === 0 || events.length === words.length) return undefined;
  return events.map(stemOf).sort().join(' ');
}

/** Endings of words for the same event: admission, admitted; enrolment, enrolled. */
const ENDINGS = ['ment', 'ion', 'ing', 'al', 'ed'] as const;
const LEAST_STEM = 4;

function stemOf(word: string): string {
  // Admission, permission, submission.
  if (word.endsWith('mission')) return word.replace(/ssion$/, 't');
  const withdrawn = word.replace(/wn$/, 'w');
  const ending = ENDINGS.find((one) => word.endsWith(one) && word.length - one.length >= LEAST_STEM);
  const stem = ending === undefined ? withdrawn : word.slice(0, -ending.length);
  return stem.replace(/(.)\1$/, '$1').replace(/e$/, '');
}
