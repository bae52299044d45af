/** The parameter of every address that says in which branch the user works; absent: in the own school. */
export const BRANCH_PARAMETER = 'branch';

/** The branch that the address of the page names; '' for none. */
export function branchInAddress(): string {
  return new URLSearchParams(location.search).get(BRANCH_PARAMETER) ?? '';
}

/**
 * The address of the home page of a branch, '' for the own school. It is to be loaded anew: nothing of the
 * school that was looked at before stays on the page.
 */
export function homeOfBranch(id: string): string {
  return id === '' ? '/' : `/?${new URLSearchParams({ [BRANCH_PARAMETER]: id })}`;
}
