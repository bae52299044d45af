/** The pages of the manual in reading order. A document that is not listed here is not in the manual. */

export interface ManualPage {
  /** The document, from the root of the package. */
  readonly source: string;
  /** Below `/manual/`; empty: `/manual` itself. */
  readonly path: string;
  /** The label in the navigation; the document has a title of its own. */
  readonly label: string;
  /** Default: English. */
  readonly language?: string;
  /** The weight of its matches in the search. Default: that of its chapter. */
  readonly weight?: number;
}

export interface ManualChapter {
  readonly title: string;
  /** The weight of the matches of its pages in the search. Default: 1. */
  readonly weight?: number;
  readonly pages: readonly ManualPage[];
}

export const CHAPTERS: readonly ManualChapter[] = [
  { title: 'Start', pages: [{ source: 'README.md', path: '', label: 'Campus Gateway' }] },
  {
    title: 'Use',
    pages: [
      doc('roles', 'What do you want to do?'),
      { ...doc('roles-hi', 'हिन्दी: आप क्या करना चाहते हैं?'), language: 'hi' },
      doc('portal', 'The portal'),
      doc('daily-work', 'Daily work'),
      doc('prints', 'Documents to print'),
      doc('tasks', 'Seventy tasks'),
      doc('accounts', 'Accounts'),
      doc('rest', 'REST'),
      doc('graphql', 'GraphQL'),
      doc('live', 'Live data'),
      doc('webhooks', 'Webhooks'),
      doc('agents', 'Agents'),
      doc('history', 'History and undo'),
      doc('import', 'Import'),
      doc('import-files', 'Files that can be read'),
      doc('import-mongodb', 'From MongoDB'),
      doc('reports', 'Reports'),
      doc('sql-views', 'SQL views'),
      doc('scripts', 'Scripts'),
      doc('platform-db', 'platform.db'),
      doc('messages', 'Messages'),
      doc('files', 'Files'),
      doc('personal-data', "A person's data"),
      doc('school-formats', 'School formats'),
    ],
  },
  {
    title: 'Clients',
    pages: [
      doc('clients', 'Which client, and how'),
      doc('clients/typescript', 'TypeScript'),
      doc('clients/relay', 'Relay'),
      doc('clients/dashboard', 'Dashboards'),
      doc('clients/scripts-and-sheets', 'Python, R, Apps Script'),
      doc('clients/grafana', 'Grafana'),
    ],
  },
  {
    title: 'Tutorials',
    pages: [
      doc('tutorials/rest-to-graphql', 'From legacy REST to GraphQL'),
      doc('tutorials/dashboard', 'A dashboard in 50 lines'),
      doc('tutorials/first-script', 'Your first script'),
      doc('tutorials/spreadsheets', 'Excel, Power BI, pandas'),
    ],
  },
  {
    title: 'Run',
    pages: [
      doc('operate', 'Operate'),
      doc('backup', 'Backup'),
      doc('monitoring', 'Monitoring'),
      doc('scale', 'Scale'),
      { source: 'CHANGELOG.md', path: 'changelog', label: 'Changelog', weight: 0.1 },
      { source: 'SECURITY.md', path: 'security', label: 'Security' },
    ],
  },
  {
    title: 'Build',
    weight: 0.2,
    pages: [
      { source: 'CONTRIBUTING.md', path: 'contributing', label: 'Contribute' },
      doc('develop', 'Develop'),
      doc('architecture', 'Architecture'),
      doc('design', 'Design'),
      doc('scope', 'Scope'),
      doc('style', 'Style'),
    ],
  },
  {
    title: 'Contract',
    weight: 0.5,
    pages: [
      doc('contract/interface', 'The interface'),
      doc('contract/decisions', 'Decisions'),
      doc('contract/reports', 'What reports mean'),
    ],
  },
  {
    title: 'Decision records',
    weight: 0.1,
    pages: [
      doc('decisions/0001-typegraphql-release-candidate', '1 TypeGraphQL'),
      doc('decisions/0002-prisma-with-composed-sql', '2 Prisma, composed SQL'),
      doc('decisions/0003-quickjs-for-scripts', '3 QuickJS'),
      doc('decisions/0004-embedded-postgresql', '4 Embedded PostgreSQL'),
      doc('decisions/0005-derived-months', '5 Derived months'),
      doc('decisions/0006-audit-trail-as-outbox', '6 Audit trail as outbox'),
      doc('decisions/0007-answers-spliced-past-graphql-js', '7 Spliced answers'),
      doc('decisions/0008-row-rules-in-declarations', '8 Row rules'),
      doc('decisions/0009-pipelines-in-the-database', '9 pipelines'),
      doc('decisions/0010-citus-for-growth', '10 Citus'),
    ],
  },
];

export const PAGES: readonly ManualPage[] = CHAPTERS.flatMap(({ pages, weight = 1 }) =>
  pages.map((page) => ({ weight, ...page })),
);

/** The address of a page. */
export function addressOf({ path }: Pick<ManualPage, 'path'>): string {
  return path === '' ? '/manual' : `/manual/${path}`;
}

function doc(path: string, label: string): ManualPage {
  return { source: `docs/${path}.md`, path, label };
}
