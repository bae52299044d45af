/** Code for a program, with a button that copies it. */
import { Code, CopyButton, Group, Text } from '@mantine/core';
import { t } from '../language/texts';
import { TextButton } from './text-button';

export function CodeToCopy({ title, text, onCopy }: CopyTextButtonProps) {
  return (
    <div>
      <Group justify="space-between" mb={4}>
        <Text fw={600}>{title}</Text>
        <CopyTextButton {...{ title, text, onCopy }} />
      </Group>
      <Code block className="wrapped">
        {text}
      </Code>
    </div>
  );
}

export interface CopyTextButtonProps {
  /** The name of the copied text, for screen readers. */
  readonly title: string;
  readonly text: string;
  /** Called when the button was pressed. */
  readonly onCopy?: (() => void) | undefined;
}

export function CopyTextButton({ title, text, onCopy }: CopyTextButtonProps) {
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <TextButton
          label={copied ? t('Copied') : t('Copy')}
          size="compact-sm"
          onClick={() => {
            copy();
            onCopy?.();
          }}
          aria-label={t('Copy {title}', { title })}
        />
      )}
    </CopyButton>
  );
}

/** Shows a text of the gateway, with the parts between backticks as code. */
export function CodeSpans({ text }: { readonly text: string }) {
  // Every second part was between two backticks; a single backtick stays as it is.
  return text.split(/`([^`]+)`/).map((part, index) =>
    index % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text have no other name.
      <Code key={index}>{part}</Code>
    ) : (
      part
    ),
  );
}

/** Requests to the gateway as code for a program, to copy. */

interface GraphqlBody {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly operationName?: string | undefined;
}

export interface CodeRequest {
  /** The whole address, e.g. `https://campus.example/graphql`. */
  readonly address: string;
  /** The posted body; absent for a GET. */
  readonly body?: GraphqlBody;
  /** A comment on the key in `CAMPUS_KEY`. */
  readonly key?: string;
}

export interface CodeExample {
  readonly title: string;
  readonly text: string;
}

/** The request as curl, JavaScript and Python, each with an API key from the environment. */
export function printRequestCode({
  address,
  body,
  key = 'your API key',
}: CodeRequest): readonly CodeExample[] {
  return [
    { title: 'curl', text: `# CAMPUS_KEY is ${key}\n${printCurl(address, body)}` },
    { title: 'JavaScript', text: `// Node 20 or later. CAMPUS_KEY is ${key}\n${printScript(address, body)}` },
    {
      title: 'Python',
      text: `# Python 3, without packages. CAMPUS_KEY is ${key}\n${printPython(address, body)}`,
    },
  ];
}

function printCurl(address: string, body: GraphqlBody | undefined): string {
  const head = 'curl -s -H "Authorization: Bearer $CAMPUS_KEY"';
  if (!body) return `${head} '${address}'`;
  const sent = JSON.stringify(body).replaceAll("'", "'\\''");
  return `${head} -H 'Content-Type: application/json' \\\n  '${address}' -d '${sent}'`;
}

function printScript(address: string, body: GraphqlBody | undefined): string {
  const before = body
    ? `const query = \`${body.query.replaceAll(/[\\`]|\$\{/g, '\\$&')}\`;
const variables = ${JSON.stringify(body.variables, null, 2)};\n`
    : '';
  const type = body ? "'content-type': 'application/json', " : '';
  const sent = body && `query, variables${nameIn(body, ', operationName: ')}`;
  return `${before}const response = await fetch('${address}', {${body ? "\n  method: 'POST'," : ''}
  headers: { ${type}authorization: 'Bearer ' + process.env.CAMPUS_KEY },${
    sent ? `\n  body: JSON.stringify({ ${sent} }),` : ''
  }
});
if (!response.ok) throw new Error((await response.json()).detail);
console.log(await response.json());`;
}

function printPython(address: string, body: GraphqlBody | undefined): string {
  const before = body
    ? `query = ${pythonText(body.query)}
variables = json.loads(${pythonText(JSON.stringify(body.variables, null, 2))})\n`
    : '';
  const type = body ? '"Content-Type": "application/json", ' : '';
  const sent = body && `"query": query, "variables": variables${nameIn(body, ', "operationName": ')}`;
  return `import json, os, urllib.request

${before}request = urllib.request.Request(
    "${address}",${sent ? `\n    data=json.dumps({${sent}}).encode(),` : ''}
    headers={${type}"Authorization": "Bearer " + os.environ["CAMPUS_KEY"]},
)
with urllib.request.urlopen(request) as response:
    print(json.load(response))`;
}

function nameIn({ operationName }: GraphqlBody, before: string): string {
  return operationName === undefined ? '' : before + JSON.stringify(operationName);
}

/** A literal of several lines, unless the text would end it early or contain an escape. */
function pythonText(text: string): string {
  return /'''|'$|\\/.test(text) ? JSON.stringify(text) : `'''${text}'''`;
}
