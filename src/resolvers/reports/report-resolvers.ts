/**
 * The GraphQL fields of the reports, one a report, drawn from the list of them: the query with its arguments,
 * and a result type around the report's own rows and totals. What a report means is said in its own file.
 */
import type { GraphQLResolveInfo, GraphQLScalarType } from 'graphql';
import { GraphQLJSONObject } from 'graphql-scalars';
import { Args, ArgsType, Ctx, Field, Info, Int, ObjectType, Query, Resolver } from 'type-graphql';
import * as column from '../../reports/engine/columns.js';
import { type RowClass, titleOf } from '../../reports/engine/columns.js';
import type { ParameterType } from '../../reports/engine/parameter-types.js';
import type { SentParameters } from '../../reports/engine/parameters.js';
import type { Report } from '../../reports/engine/report.js';
import { rolesOf } from '../../reports/engine/report-access.js';
import type { ReportServices } from '../../reports/engine/report-context.js';
import type { ReportPage } from '../../reports/engine/report-run.js';
import type { ShownParts } from '../../reports/engine/shown-parts.js';
import { reports } from '../../reports/registry.js';
import { DateTime } from '../../scalars/date-time.js';
import { CachedFor } from '../cached-for.js';
import { SelectionMemory, selectedFields } from '../records/selection.js';
import { type RequestContext, requireScope } from '../request-context.js';

@column.rowType(
  'ReportWarning',
  'Records a report left out because a value in them is unusable. They never fail or bend it.',
)
class ReportWarning {
  @column.text('The collection of the records.') readonly collection!: string;
  @column.text('What is wrong with them.') readonly reason!: string;
  @column.whole('How many they are.') readonly count!: number;
  @column.texts('The `_id`s of the first ten.') readonly ids!: readonly string[];
}

@ObjectType({ description: 'Whether a report has more rows, and where they start.' })
class ReportPageInfo {
  @Field(() => Boolean, { description: 'Whether there are rows after this page.' })
  readonly hasNextPage!: boolean;
  @Field(() => String, { nullable: true, description: 'Pass as `after` to get the next page.' })
  readonly endCursor!: string | null;
}

type ResolverClass = NewableFunction;

/**
 * A report is dear to compute and says when it was made: a dashboard that is opened again may show what it
 * showed a minute ago.
 */
const MAX_AGE_SECONDS = 60;

/**
 * One resolver class a report, and an instance of each: TypeGraphQL takes the classes, its container the
 * instances.
 */
export interface ReportResolvers {
  readonly classes: readonly ResolverClass[];
  readonly instances: ReadonlyMap<ResolverClass, object>;
}

export function createReportResolvers(services: ReportServices): ReportResolvers {
  const instances = new Map<ResolverClass, object>([
    ...reports.map((report): [ResolverClass, object] => {
      const resolverClass = resolverOf(report, services);
      return [resolverClass, new resolverClass()];
    }),
  ]);
  return { classes: [...instances.keys()], instances };
}

function resolverOf(report: Report, services: ReportServices): new () => object {
  const resultType = resultOf(report);
  const argsType = argumentsOf(report);
  const memory = new SelectionMemory<ShownParts>();

  class ReportResolver {
    run(args: PageArguments, context: RequestContext, info: GraphQLResolveInfo): Promise<CountedPage> {
      const shown = memory.recall(info, () => partsOfSelection(report, info));
      return runPage(report, services, { args, shown }, context);
    }
  }
  const target = ReportResolver.prototype;
  const method = Object.getOwnPropertyDescriptor(target, 'run');
  Reflect.defineMetadata('design:paramtypes', [Object, Object, Object], target, 'run');
  Reflect.defineMetadata('design:returntype', Promise, target, 'run');
  Args(() => argsType)(target, 'run', 0);
  Ctx()(target, 'run', 1);
  Info()(target, 'run', 2);
  Query(() => resultType, {
    name: report.field,
    description: `${report.description} For the roles ${rolesOf(report).join(', ')}. By GET, an answer may be kept ${MAX_AGE_SECONDS} s.`,
  })(target, 'run', method ?? {});
  CachedFor(MAX_AGE_SECONDS)(target, 'run', method ?? {});
  Resolver()(ReportResolver);
  return ReportResolver;
}

type PageArguments = SentParameters & { readonly first?: number; readonly after?: string };

/** A page of a report, of which the rows of the whole are counted where somebody asks for their number. */
interface CountedPage extends ReportPage {
  readonly rowCount: number | Promise<number>;
}

async function runPage(
  report: Report,
  services: ReportServices,
  { args, shown }: { readonly args: PageArguments; readonly shown: ShownParts },
  context: RequestContext,
): Promise<CountedPage> {
  const { first, after, ...sent } = args;
  const run = await report.run(services, requireScope(context), sent);
  const page = await run.page({ first: first ?? undefined, after: after ?? undefined, shown });
  const isWhole = (after ?? undefined) === undefined && !page.pageInfo.hasNextPage;
  return {
    ...page,
    get rowCount() {
      return isWhole ? page.rows.length : run.rowCount();
    },
  };
}

/** Whether rows follow, and how many there are, is told from the rows, whatever of them is shown. */
const MADE_OF_ROWS: readonly string[] = ['rows', 'pageInfo', 'rowCount'];

/** What of a report the selection of its field asks for. */
function partsOfSelection(report: Report, info: GraphQLResolveInfo): ShownParts {
  const fields = [...selectedFields(resultName(report), info.fieldNodes, info).values()].flat();
  const nodesOf = (name: string) => fields.filter((node) => node.name.value === name);
  const columns = (name: string, rowClass: RowClass) => {
    const selected = [...selectedFields(titleOf(rowClass).name, nodesOf(name), info).values()].flat();
    return new Set(selected.map((node) => node.name.value));
  };
  const isSelected = (name: string) => nodesOf(name).length > 0;
  return {
    rows: MADE_OF_ROWS.some(isSelected) ? columns('rows', report.row) : undefined,
    totals: isSelected('totals') ? columns('totals', report.totals) : undefined,
    warnings: isSelected('warnings'),
  };
}

function resultName({ field }: Report): string {
  return `${field.charAt(0).toUpperCase()}${field.slice(1)}Report`;
}

const resultsByReport = new WeakMap<Report, ResolverClass>();
const argumentsByReport = new WeakMap<Report, ResolverClass>();

/** The class is made once a report, however many schemas are built of it: GraphQL type names are unique. */
function resultOf(report: Report): ResolverClass {
  const known = resultsByReport.get(report);
  if (known) return known;
  class ReportResult {}
  const target = ReportResult.prototype;
  Field(() => [report.row], { description: 'The rows of this page, in the order of the report.' })(
    target,
    'rows',
  );
  Field(() => report.totals, { description: 'Totals of the whole report, whatever the page.' })(
    target,
    'totals',
  );
  Field(() => [ReportWarning], { description: 'Records left out, by reason.' })(target, 'warnings');
  Field(() => DateTime, { description: 'When the report was made.' })(target, 'generatedAt');
  Field(() => GraphQLJSONObject, { description: 'The parameters as understood, defaults filled in.' })(
    target,
    'parameters',
  );
  Field(() => String, { description: 'Currency of every amount, ISO 4217.' })(target, 'currency');
  Field(() => Int, {
    description: 'How many rows the whole report has, whatever the page. Counted where it is asked for.',
  })(target, 'rowCount');
  Field(() => ReportPageInfo, { description: 'Where the next page starts.' })(target, 'pageInfo');
  ObjectType(resultName(report), { description: report.description })(ReportResult);
  resultsByReport.set(report, ReportResult);
  return ReportResult;
}

function argumentsOf(report: Report): ResolverClass {
  const known = argumentsByReport.get(report);
  if (known) return known;
  class ReportArguments {}
  const target = ReportArguments.prototype;
  for (const [name, parameter] of Object.entries(report.parameters)) {
    Field(() => graphqlTypeOf(parameter.type), {
      nullable: !parameter.isRequired,
      description: parameter.defaultText
        ? `${parameter.description} Default: ${parameter.defaultText}.`
        : parameter.description,
    })(target, name);
  }
  Field(() => Int, { nullable: true, description: 'How many rows at most.' })(target, 'first');
  Field(() => String, { nullable: true, description: 'The `endCursor` of the page before.' })(
    target,
    'after',
  );
  ArgsType()(ReportArguments);
  argumentsByReport.set(report, ReportArguments);
  return ReportArguments;
}

function graphqlTypeOf(type: ParameterType<unknown>): GraphQLScalarType | object {
  return type.graphql;
}
