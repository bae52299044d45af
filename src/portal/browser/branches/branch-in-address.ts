/**
 * The parameter of all addresses that names the branch in which the user works. Absent for the user's own
 * school.
 */
export const BRANCH_PARAMETER = 'branch';

/** The branch in the address of the page; '' for none. */
export function branchInAddress(): string {
  return new URLSearchParams(location.search).get(BRANCH_PARAMETER) ?? '';
}

/**
 * The address of the home page of a branch; '' for the user's own school. It must be loaded anew, so that
 * nothing of the previous school remains on the page.
 */
export function homeOfBranch(id: string): string {
  return id === '' ? '/' : `/?${new URLSearchParams({ [BRANCH_PARAMETER]: id })}`;
}
