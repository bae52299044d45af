/** The descriptions of arguments that several fields on records share. */

export const CI_ARGUMENT = { nullable: true, description: 'The text operators of `oquery` ignore case.' };

export const OQUERY_BESIDE_WHERE = {
  nullable: true,
  description: 'Conditions as in the REST interface; they hold beside `where`.',
};

export const FORCE_ARGUMENT = {
  nullable: true,
  description:
    'Removes records although others point to them; the references stay and lead to nothing. Admins only.',
} as const;

export const RENAME_ARGUMENT = {
  nullable: true,
  description:
    'For admins: where other records use a name that is changed, such as that of a class or fee head, they ' +
    'get the new one, in one transaction. Without it, the change is then refused (CONFLICT), and the ' +
    'records ' +
    'are counted by collection.',
} as const;
