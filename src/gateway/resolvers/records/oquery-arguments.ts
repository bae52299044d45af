/** The arguments that several fields on records share. */
import { nullable } from '../../../base/scalars/declared-type.js';

export const CI_ARGUMENT = nullable.flag('The text operators of `oquery` ignore case.');

export const OQUERY_BESIDE_WHERE = nullable.text(
  'Conditions as in the REST interface; they hold beside `where`.',
);

export const FORCE_ARGUMENT = nullable.flag(
  'Removes records although others point to them; the references stay and lead to nothing. Admins only.',
);

export const RENAME_ARGUMENT = nullable.flag(
  'For admins: where other records use a name that is changed, such as that of a class or fee head, they ' +
    'get the new one, in one transaction. Without it, the change is then refused (CONFLICT), and the ' +
    'records ' +
    'are counted by collection.',
);
