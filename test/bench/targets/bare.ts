/** The limit: what the machine can do when nothing but the question is answered. */

import { startTarget, stopTarget } from '../child-server.js';
import type { Dialect, Mark } from '../questions.js';
import type { BareServerOptions } from './bare-server.js';
import type { Target, TargetOptions } from './target.js';

const collection: Dialect['collection'] = ({ from, to }) => ({ path: `/collection/${from}/${to}` });

const DIALECT: Dialect = {
  one: (id) => ({ path: `/one/${id}` }),
  list: (asked) => ({ path: `/list/${asked.class}/${asked.day}` }),
  contains: (text) => ({ path: `/contains/${encodeURIComponent(text)}` }),
  collection,
  collectionWithTotals: collection,
  create: (mark) => ({ method: 'POST', path: '/create', body: printMark(mark) }),
  stream: (count) => ({ path: `/stream/${count}` }),
  createMany: (marks) => ({
    method: 'POST',
    path: '/createMany',
    body: `[${marks.map(printMark).join(',')}]`,
  }),
};

function printMark({ student, day, class: className, section }: Mark): string {
  return JSON.stringify({
    created: `${day}T03:05:00.000Z`,
    student,
    class: className,
    section,
    status: 'present',
    marked_by: 'usr-admin',
  });
}

export async function startBare({ databaseUrl, poolSize }: TargetOptions): Promise<Target> {
  const options: BareServerOptions = { databaseUrl, poolSize };
  const server = await startTarget(new URL('./bare-server.ts', import.meta.url), {
    BARE_SERVER: JSON.stringify(options),
  });
  return {
    name: 'bare',
    url: server.url,
    pid: server.process.pid ?? 0,
    dialect: DIALECT,
    stop: () => stopTarget(server),
  };
}
