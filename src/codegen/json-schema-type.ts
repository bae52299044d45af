/** JSON Schemas of an OpenAPI document as TypeScript types. */

/** What of JSON Schema the documents of a gateway use. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly deprecated?: boolean;
}

/**
 * The type of a value. Objects take no members beside those that are said: a record may have others, but a
 * slip of the pen in a name is then found by the compiler.
 */
export function jsonSchemaType(schema: JsonSchema, indent = ''): string {
  if (schema.$ref !== undefined) return typeName(schema.$ref);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return union(schema.enum.map((value) => JSON.stringify(value)));
  if (schema.anyOf) return union(schema.anyOf.map((one) => jsonSchemaType(one, indent)));
  if (schema.allOf) return schema.allOf.map((one) => group(jsonSchemaType(one, indent))).join(' & ');
  if (schema.type === undefined && schema.properties) return objectType(schema, indent);
  const types = schema.type === undefined ? [] : [schema.type].flat();
  return types.length === 0 ? 'unknown' : union(types.map((type) => typeOf(type, schema, indent)));
}

/** The name that a schema of the components has, as one of a type. */
export function typeName(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1).replaceAll(/[^A-Za-z0-9_]/g, '_');
}

/** What is said of a type or member, as a comment before it; empty where nothing is. */
export function docComment({ description, deprecated }: JsonSchema, indent: string): string {
  const said = [...(description ? [description] : []), ...(deprecated ? ['@deprecated'] : [])];
  if (said.length === 0) return '';
  const lines = said.join('\n').replaceAll('*/', '*\\/').split('\n');
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`;
}

/** A name as a member of a type is written: as it is, or in quotes. */
export function memberName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

/** A type for every value is one of them all; none is what there is none of. */
export function union(types: readonly string[]): string {
  const distinct = [...new Set(types)];
  if (distinct.includes('unknown')) return 'unknown';
  return distinct.length === 0 ? 'never' : distinct.join(' | ');
}

function typeOf(type: string, schema: JsonSchema, indent: string): string {
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type;
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      return `readonly ${group(jsonSchemaType(schema.items ?? {}, indent))}[]`;
    case 'object':
      return objectType(schema, indent);
    default:
      return 'unknown';
  }
}

function objectType({ properties, required = [] }: JsonSchema, indent: string): string {
  if (properties === undefined) return '{ readonly [name: string]: unknown }';
  const inner = `${indent}  `;
  const members = Object.entries(properties).map(([name, schema]) => {
    const mark = required.includes(name) ? '' : '?';
    const type = jsonSchemaType(schema, inner);
    return `${docComment(schema, inner)}${inner}readonly ${memberName(name)}${mark}: ${type};`;
  });
  return `{\n${members.join('\n')}\n${indent}}`;
}

/** A type before `[]` or `&`. */
export function group(type: string): string {
  const isOne = !type.includes(' ') || (type.startsWith('{') && type.endsWith('}'));
  return isOne ? type : `(${type})`;
}
