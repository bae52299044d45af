/** The sources of subscription events. */
import type { ImportNews } from '../../../services/importing/import-news.js';
import type { Imports } from '../../../services/importing/imports.js';
import type { Topics } from '../../../services/messaging/topics.js';
import type { Catalog } from '../../../store/catalog/catalog.js';
import type { ChangeFeed } from '../../../store/changes/change-feed.js';
import type { RecordChanges } from './record-changes.js';

export interface LiveSources {
  readonly catalog: Catalog;
  readonly feed: ChangeFeed;
  readonly recordChanges: RecordChanges;
  readonly topics: Topics;
  readonly imports: Pick<Imports, 'get' | 'rights'>;
  readonly importNews: Pick<ImportNews, 'follow' | 'look'>;
}
