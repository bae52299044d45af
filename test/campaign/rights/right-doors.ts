/**
 * The doors by which fields that are rights are tried: everything that writes records, told which user and
 * what of it. None leads around what the account mutations check.
 */
import type { Answer, Voice } from './doors.js';
import { importDocument } from './import-doors.js';

export interface RightDoor {
  readonly name: string;
  /** It removes the user, instead of changing it. */
  readonly removes?: true;
  open(voice: Voice, user: RightsOfUser, change: Readonly<Record<string, unknown>>): Promise<Answer>;
}

/** The user whose record is tried. */
export interface RightsOfUser {
  readonly id: string;
  readonly userName: string;
}

const byId = ({ id }: RightsOfUser) => ({ _id: { equals: id } });

export const RIGHT_DOORS: readonly RightDoor[] = [
  {
    name: 'REST merge-patch',
    open: (v, { id }, change) => v.rest('PATCH', `/o/recs/pltf_user/${id}`, change),
  },
  {
    name: 'REST replacement',
    open: (v, { id, userName }, change) =>
      v.rest('PUT', `/o/recs/pltf_user/${id}`, {
        user_name: userName,
        name: 'Asha',
        active: true,
        ...change,
      }),
  },
  {
    name: 'GraphQL update',
    open: (v, { id }, change) =>
      v.graphql(
        'mutation($id: ID!, $d: JSON!) { updateRecord(collection: "pltf_user", id: $id, data: $d) { id } }',
        { id, d: change },
      ),
  },
  {
    name: 'GraphQL update in a transaction',
    open: (v, { id }, change) =>
      v.graphql(
        'mutation($id: ID!, $d: JSON!) @transaction { ' +
          'updateRecord(collection: "pltf_user", id: $id, data: $d) { id } }',
        { id, d: change },
      ),
  },
  {
    name: 'typed GraphQL update',
    open: (v, { id }, change) =>
      v.graphql('mutation($id: ID!, $d: UpdatePltfUserInput!) { updatePltfUser(id: $id, data: $d) { id } }', {
        id,
        d: typed(change),
      }),
  },
  {
    name: 'typed GraphQL update of all that match',
    open: (v, user, change) =>
      v.graphql(
        'mutation($w: PltfUserWhereInput!, $d: UpdatePltfUserInput!) { ' +
          'updatePltfUsers(where: $w, set: $d) { matched } }',
        { w: { id: { equals: user.id } }, d: typed(change) },
      ),
  },
  {
    name: 'GraphQL update of all that match',
    open: (v, user, change) =>
      v.graphql(
        'mutation($w: JSON!, $d: JSON!) { updateRecords(collection: "pltf_user", where: $w, set: $d) ' +
          '{ matched } }',
        { w: byId(user), d: change },
      ),
  },
  {
    name: 'GraphQL push into a list',
    open: (v, user, change) =>
      v.graphql(
        'mutation($w: JSON!, $set: JSON, $push: JSON) { ' +
          'updateRecords(collection: "pltf_user", where: $w, set: $set, push: $push) { matched } }',
        {
          w: byId(user),
          ...(Array.isArray(change.roles) ? { push: { roles: change.roles } } : { set: change }),
        },
      ),
  },
  ...(['_id', 'user_name'] as const).map(
    (by): RightDoor => ({
      name: `GraphQL upsert by ${by}`,
      open: (v, { id, userName }, change) =>
        v.graphql(
          'mutation($d: [JSON!]!, $by: String) { ' +
            'upsertRecords(collection: "pltf_user", data: $d, by: $by) { count } }',
          { d: [{ ...(by === '_id' ? { _id: id } : { user_name: userName }), ...change }], by },
        ),
    }),
  ),
  ...(['_id', 'user_name'] as const).map(
    (by): RightDoor => ({
      name: `an import by ${by}`,
      open: (v, { id, userName }, change) => {
        const key = by === '_id' ? { _id: id } : { user_name: userName };
        return importDocument(v, 'pltf_user', { ...key, ...change }, `run?mode=rows&by=${by}`);
      },
    }),
  ),
  {
    name: 'platform.db.update',
    open: (v, { id }, change) => v.script('update', ['pltf_user', { _id: id }, { $set: change }]),
  },
  {
    name: 'REST delete',
    removes: true,
    open: (v, { id }) => v.rest('DELETE', `/o/recs/pltf_user/${id}`),
  },
  {
    name: 'GraphQL delete',
    removes: true,
    open: (v, { id }) =>
      v.graphql('mutation($id: ID!) { deleteRecord(collection: "pltf_user", id: $id) { id } }', { id }),
  },
  {
    name: 'GraphQL delete of all that match',
    removes: true,
    open: (v, user) =>
      v.graphql('mutation($w: JSON!) { deleteRecords(collection: "pltf_user", where: $w) { count } }', {
        w: byId(user),
      }),
  },
  {
    name: 'platform.db.findAndModify',
    removes: true,
    open: (v, { id }) => v.script('findAndModify', ['pltf_user', { _id: id }, null, null, { remove: true }]),
  },
];

function typed({ user_name: userName, ...change }: Readonly<Record<string, unknown>>) {
  return { ...change, ...(userName !== undefined && { userName }) };
}
