import type { Filter } from './filter.js';

/** Whether a filter is certain to match every record. */
export function isEverything(filter: Filter): boolean {
  switch (filter.kind) {
    case 'all':
      return filter.filters.every(isEverything);
    case 'any':
      return filter.filters.some(isEverything);
    case 'not':
      return isNothing(filter.filter);
    case 'exists':
      return filter.path.length === 1 && filter.path[0] === '_id';
    default:
      return false;
  }
}

function isNothing(filter: Filter): boolean {
  switch (filter.kind) {
    case 'all':
      return filter.filters.some(isNothing);
    case 'any':
      return filter.filters.every(isNothing);
    case 'not':
      return isEverything(filter.filter);
    case 'in':
      return filter.values.length === 0;
    case 'isNull':
      return filter.path.length === 1 && filter.path[0] === '_id';
    default:
      return false;
  }
}
