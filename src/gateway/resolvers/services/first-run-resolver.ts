/** The door to creating the first school of an empty database. */
import { inputType, member, nullable } from '../../../base/scalars/declared-type.js';
import type { FirstRun } from '../../../services/auth/first-run.js';
import { type FieldRows, given, serviceResolver } from '../service-resolver.js';

const MakeSchoolInput = inputType(
  'MakeSchoolInput',
  'The first school of an empty database, and its first admin.',
  {
    id: member.text('Its id: 1 to 64 letters, digits, `_`, `.` or `-`, e.g. "dps".'),
    name: member.text('The name shown to people.'),
    timeZone: nullable.text('An IANA name; left out: Asia/Kolkata.'),
    userName: member.text('The login name of the admin.'),
    adminName: member.text('The full name of the admin.'),
    password: member.text(
      'The password of the admin: of at least PASSWORD_MIN_LENGTH characters, and not easy to guess.',
    ),
  },
);
export const FirstRunResolver = serviceResolver(
  ({ openQuery, openMutation }: FieldRows<{ readonly firstRun: FirstRun }>) => ({
    firstRun: openQuery(
      member.flag('Whether this link can still create a school. Needs no credential but the link.'),
      { token: member.text('The part after # of the link in the log.') },
      ({ firstRun }, _context, { token }) => firstRun.isOpen(token),
    ),
    makeSchool: openMutation(
      member.flag(
        'Creates the first school and its admin, who then logs in. Needs no credential but ' +
          'the link in the log. Errors: NOT_FOUND if a school exists or the link is invalid, ' +
          'INVALID_VALUE.',
      ),
      {
        token: member.text('The part after # of the link in the log.'),
        data: member.of(MakeSchoolInput, 'The school.'),
      },
      async ({ firstRun }, _context, { token, data }) => {
        const { userName, adminName, password, ...school } = given(data);
        await firstRun.make(token, { ...school, admin: { userName, name: adminName, password } });
        return true;
      },
    ),
  }),
);
