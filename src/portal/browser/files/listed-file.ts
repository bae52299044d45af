import type { FilesOfPortalQuery } from '../../../generated/portal/files/files';

/** A file, as the page lists it and its dialog shows it. */
export type ListedFile = FilesOfPortalQuery['files']['nodes'][number];
