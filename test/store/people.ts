/** Scopes and collections for the tests of the store. */
import type { JsonValue } from '../../src/base/json/json.js';
import type { Domain, KeyScopes, Scope } from '../../src/base/model/scope.js';
import type { CollectionDefinition } from '../../src/store/catalog/collection-definition.js';
import { parseCollection } from '../../src/store/catalog/parse-collection.js';

export const TOP: Domain = { id: 'school', name: 'School', parentId: undefined, timeZone: 'Asia/Kolkata' };
export const SUB: Domain = { id: 'branch', name: 'Branch', parentId: 'school', timeZone: 'Asia/Kolkata' };

export interface Person {
  readonly id?: string;
  readonly roles: readonly string[];
  readonly domain?: Domain;
  readonly scopes?: KeyScopes;
  readonly attributes?: Readonly<Record<string, readonly (readonly JsonValue[])[]>>;
}

export function scopeOf(person: Person): Scope {
  const domain = person.domain ?? TOP;
  return {
    domain,
    principal: {
      kind: 'user',
      id: person.id ?? 'usr-1',
      userName: person.id ?? 'usr-1',
      domainId: domain.id,
      roles: new Set(person.roles),
      credential: { kind: person.scopes ? 'key' : 'token', id: `of-${person.id ?? 'usr-1'}` },
      scopes: person.scopes,
      attributes: person.attributes ?? {},
    },
    call: { requestId: 'req-1' },
  };
}

export const ADMIN = scopeOf({ id: 'usr-admin', roles: ['admin'] });

export function collectionOf(definition: CollectionDefinition, version = 1) {
  return parseCollection(definition, { source: `${definition.name}.json`, isDeclared: true, version });
}

/** A student as the tests know one: every kind of field, and a role for every kind of limit. */
export const STUDENT: CollectionDefinition = {
  name: 'student',
  labelField: 'name',
  fields: [
    { name: 'number', type: 'text', required: true, unique: true },
    { name: 'name', type: 'text', required: true, index: true },
    { name: 'class', type: 'text', index: true },
    { name: 'section', type: 'text', index: true },
    { name: 'fee', type: 'number', decimal: true },
    { name: 'phone', type: 'text' },
    { name: 'status', type: 'text', enum: ['active', 'left'], default: 'active' },
    { name: 'born', type: 'datetime', format: 'date' },
    { name: 'seen', type: 'datetime' },
    { name: 'session', type: 'text', format: 'session' },
    { name: 'is_boarder', type: 'boolean' },
    { name: 'tags', type: 'text', list: true },
    { name: 'tutor', type: 'reference', target: 'staff', mustExist: false },
    {
      name: 'marks',
      type: 'object',
      list: true,
      fields: [
        { name: 'subject', type: 'text', required: true },
        { name: 'got', type: 'number' },
        { name: 'max', type: 'number' },
      ],
    },
  ],
  checks: [{ kind: 'order', in: 'marks', lower: 'got', upper: 'max' }],
  access: {
    clerk: {
      verbs: ['read', 'create', 'update', 'delete'],
      hiddenFields: ['fee'],
      readOnlyFields: ['status'],
    },
    viewer: { verbs: ['read'], hiddenFields: ['fee', 'phone'] },
    teacher: {
      verbs: ['read', 'update', 'create', 'delete'],
      hiddenFields: ['fee'],
      rows: { fields: ['class', 'section'], attribute: 'sectionsTaught' },
    },
    reader_of_all: { verbs: ['read'] },
    writer: { verbs: ['create'] },
  },
};

export const STAFF: CollectionDefinition = {
  name: 'staff',
  labelField: 'name',
  plural: 'staffMembers',
  fields: [
    { name: 'name', type: 'text', required: true },
    { name: 'department', type: 'text' },
  ],
  access: {
    clerk: { verbs: ['read'] },
    viewer: { verbs: ['read'], hiddenFields: ['name'] },
    teacher: { verbs: ['read'], rows: { fields: ['_id'], attribute: 'self' } },
  },
};

/** One record a student and day. */
export const PRESENCE: CollectionDefinition = {
  name: 'presence',
  fields: [
    { name: 'student', type: 'reference', target: 'student', mustExist: false, required: true },
    { name: 'created', type: 'datetime', default: 'now', required: true },
    { name: 'status', type: 'text' },
  ],
  uniqueTogether: [
    { name: 'student_day', parts: [{ path: 'student.value' }, { path: 'created', by: 'day' }] },
  ],
};

export const RECEIPT: CollectionDefinition = {
  name: 'receipt',
  fields: [
    { name: 'total', type: 'number', decimal: true, required: true },
    {
      name: 'lines',
      type: 'object',
      list: true,
      fields: [
        { name: 'amount', type: 'number' },
        { name: 'fine', type: 'number' },
      ],
    },
  ],
  checks: [{ kind: 'sum', total: 'total', of: ['lines.amount', 'lines.fine'] }],
  access: { clerk: { verbs: ['read', 'create', 'update'] } },
};

/** Grants `sectionsTaught` to class teachers. */
export const ROOM: CollectionDefinition = {
  name: 'room',
  fields: [
    { name: 'name', type: 'text', required: true },
    {
      name: 'sections',
      type: 'object',
      list: true,
      fields: [
        { name: 'name', type: 'text' },
        { name: 'teacher', type: 'reference', target: 'staff', mustExist: false },
      ],
    },
  ],
  grants: [
    { attribute: 'sectionsTaught', list: 'sections', caller: 'teacher', key: ['name', 'sections.name'] },
  ],
};

/** Takes any object. */
export const NOTE: CollectionDefinition = { name: 'note' };
