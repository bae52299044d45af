import pg from 'pg';

/** Everything that the migrations make, as sorted lines. */
export async function describeSchema(url: string): Promise<readonly string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ line: string }>(`
      with ours as (select oid from pg_namespace where nspname = 'public')
      select format('%s %s %s %s %s', relkind, relname, relpersistence, reloptions,
        pg_get_partkeydef(oid)) as line
      from pg_class
      where relnamespace = (select oid from ours) and relname not like '\\_prisma%'
      union all
      select format('column %s.%s %s %s %s %s', attrelid::regclass, attname, attnum,
        format_type(atttypid, atttypmod), attnotnull, attstorage)
        || coalesce(pg_get_expr(d.adbin, d.adrelid), '')
      from pg_attribute a
      join pg_class c on c.oid = attrelid and relnamespace = (select oid from ours)
        and relname not like '\\_prisma%'
      left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
      where attnum > 0 and not attisdropped
      union all
      select indexdef from pg_indexes where schemaname = 'public'
      union all
      select format('%s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
      from pg_constraint
      where connamespace = (select oid from ours)
      union all
      select pg_get_triggerdef(t.oid)
      from pg_trigger t
      join pg_class c on c.oid = t.tgrelid
      where relnamespace = (select oid from ours) and not tgisinternal
      union all
      select pg_get_functiondef(oid) from pg_proc where pronamespace = (select oid from ours)
        and prokind = 'f'
      union all
      select format('aggregate %s %s', a.aggfnoid, a.aggtransfn)
      from pg_aggregate a
      join pg_proc p on p.oid = a.aggfnoid
      where pronamespace = (select oid from ours)
      union all
      select pg_get_statisticsobjdef(oid) from pg_statistic_ext
      order by 1`);
    return rows.map(({ line }) => line);
  } finally {
    await client.end();
  }
}
