/** The sources of subscription events. */
import type { ImportNews } from '../../importing/import-news.js';
import type { Imports } from '../../importing/imports.js';
import type { Topics } from '../../messaging/topics.js';
import type { Catalog } from '../../store/catalog/catalog.js';
import type { ChangeFeed } from '../../store/changes/change-feed.js';
import type { RecordChanges } from './record-changes.js';

export interface LiveSources {
  readonly catalog: Catalog;
  readonly feed: ChangeFeed;
  readonly recordChanges: RecordChanges;
  readonly topics: Topics;
  readonly imports: Pick<Imports, 'get' | 'rights'>;
  readonly importNews: Pick<ImportNews, 'follow' | 'look'>;
}
