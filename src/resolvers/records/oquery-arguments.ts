/** The descriptions of the arguments `oquery` and `ci`, which every field that lists records has. */

export const CI_ARGUMENT = { nullable: true, description: 'The text operators of `oquery` ignore case.' };

export const OQUERY_BESIDE_WHERE = {
  nullable: true,
  description: 'Conditions as in the REST interface; they hold beside `where`.',
};
