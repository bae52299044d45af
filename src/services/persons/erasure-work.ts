/** The input of each step of an erasure. */
import type { Scope } from '../../base/model/scope.js';
import type { Catalog } from '../../store/catalog/catalog.js';
import type { Transaction } from '../../store/database/queryable.js';
import type { ErasureReport } from './erasure-report.js';
import type { PersonIdentity } from './identity.js';

export interface ErasureWork {
  readonly transaction: Transaction;
  readonly scope: Scope;
  readonly catalog: Catalog;
  readonly identity: PersonIdentity;
  readonly report: ErasureReport;
  /** The imports whose files name the person or cannot be read. */
  readonly importsNaming: readonly string[];
  /** @see Database.announcesByOutbox */
  readonly isToOutbox: boolean;
}
