import type { IntrospectionQuery } from 'graphql';
import type { GatewayClient } from '../gateway/gateway-client';

/** The first request of a program, in common languages. */

export interface ExampleRequest {
  /** The origin of this gateway, e.g. `https://campus.example`. */
  readonly origin: string;
  /** A collection that the key may read. */
  readonly collection: string;
  /** The beginning of the key. Only its owner has the rest. */
  readonly prefix: string | undefined;
}

export interface CodeExample {
  readonly title: string;
  readonly text: string;
}

export function codeExamples({ origin, collection, prefix }: ExampleRequest): readonly CodeExample[] {
  const key = prefix === undefined ? 'your API key' : `the key that begins with ${prefix}`;
  const address = `${origin}/o/recs/${encodeURIComponent(collection)}?limit=3`;
  return [
    {
      title: 'curl',
      text: `# CAMPUS_KEY is ${key}
curl -s -H "Authorization: Bearer $CAMPUS_KEY" '${address}'`,
    },
    {
      title: 'JavaScript',
      text: `// Node 20 or later. CAMPUS_KEY is ${key}
const response = await fetch('${address}', {
  headers: { authorization: 'Bearer ' + process.env.CAMPUS_KEY },
});
if (!response.ok) throw new Error((await response.json()).detail);
console.log(await response.json());`,
    },
    {
      title: 'Python',
      text: `# Python 3, without packages. CAMPUS_KEY is ${key}
import json, os, urllib.request

request = urllib.request.Request(
    "${address}",
    headers={"Authorization": "Bearer " + os.environ["CAMPUS_KEY"]},
)
with urllib.request.urlopen(request) as response:
    print(json.load(response))`,
    },
    {
      title: 'Apps Script',
      text: `// Put ${key} into the script properties, as CAMPUS_KEY.
function readRecords() {
  const key = PropertiesService.getScriptProperties().getProperty('CAMPUS_KEY');
  const response = UrlFetchApp.fetch('${address}', {
    headers: { Authorization: 'Bearer ' + key },
  });
  console.log(JSON.parse(response.getContentText()));
}`,
    },
    {
      title: 'GraphQL',
      text: `# CAMPUS_KEY is ${key}
curl -s -H "Authorization: Bearer $CAMPUS_KEY" -H 'Content-Type: application/json' \\
  '${origin}/graphql' -d '{"query": "{ me { userName collections { name canRead } } }"}'`,
    },
  ];
}

/** The schema visible to the viewer, as text. The printer is loaded on demand. */
export async function readSchemaText(gateway: GatewayClient): Promise<string> {
  const { buildClientSchema, getIntrospectionQuery, printSchema } = await import('graphql');
  const query = getIntrospectionQuery({ inputValueDeprecation: true });
  const told = await gateway.executeText<IntrospectionQuery>(query, {}, { name: 'IntrospectionQuery' });
  return `${printSchema(buildClientSchema(told))}\n`;
}
