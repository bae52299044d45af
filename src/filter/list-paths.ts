import type { Filter, Path } from './filter.js';

/** Every path a filter looks at, from the record on: what a caller must be allowed to read to ask it. */
export function listPaths(filter: Filter): Path[] {
  const paths: Path[] = [];
  collect(filter, [], paths);
  return paths;
}

function collect(filter: Filter, base: Path, paths: Path[]): void {
  switch (filter.kind) {
    case 'all':
    case 'any':
      for (const part of filter.filters) collect(part, base, paths);
      return;
    case 'not':
      collect(filter.filter, base, paths);
      return;
    case 'element':
      paths.push([...base, ...filter.path]);
      collect(filter.filter, [...base, ...filter.path], paths);
      return;
    default:
      paths.push([...base, ...filter.path]);
  }
}
