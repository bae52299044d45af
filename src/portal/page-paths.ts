/** The addresses of the pages of the portal, as `portal-pages.ts` lists them. */

export interface PagePath {
  /** `$name` stands for a part of the address. */
  readonly path: string;
  /** The module that is loaded for it, as it is imported there. */
  readonly module: string;
}

const PAGE = /\[\s*'(\/[^']*)',\s*phrase\('[^']+'\),\s*'(\.\/[^']+)'/g;

/** Reads the paths from the source, because that module needs a browser to run. */
export function readPagePaths(source: string): readonly PagePath[] {
  return [...source.matchAll(PAGE)].map(([, path = '', module = '']) => ({ path, module }));
}

/** Whether an address, without its query, matches a path. */
export function isOfPath(address: string, path: string): boolean {
  return new RegExp(`^${path.replaceAll(/\$\w+/g, '[^/]+')}/?$`).test(address);
}
