import Type, { type Static } from 'typebox'
import { contract } from '../contract.ts'
import { FileIdParam, IsoTime, pageQuery, Words } from '../schemas.ts'
import { FileUserData } from './files.ts'

const tag = 'Collections'

/** `FAVR` favourites, `RCNT` recently read, `BKMK` bookmarks, `PIND` pinned. */
export const collectionTypes = ['FAVR', 'RCNT', 'BKMK', 'PIND'] as const
export type CollectionType = (typeof collectionTypes)[number]

/** An item of a collection, with the time at which it was added. */
export const CollectionItem = Type.Object({ itemId: Type.String(), addedAt: IsoTime })
export type CollectionItem = Static<typeof CollectionItem>

const collType = Words(collectionTypes, {
  description:
    '`FAVR` favourites, `RCNT` recently read (kept by the server), `BKMK` bookmarks, `PIND` pinned',
})
const itemParams = Type.Object({
  collType,
  itemId: Type.String({ description: 'The id of a file; for `BKMK` also of an action' }),
})

export const listCollection = contract({
  name: 'listCollection',
  method: 'GET',
  path: '/api/collections/{collType}',
  tag,
  summary: 'The items of a collection that the caller may still read, the newest first',
  auth: 'required',
  scope: 'read:collections',
  params: Type.Object({ collType }),
  query: Type.Object({ ...pageQuery }),
  reply: { kind: 'list', status: 200, schema: CollectionItem },
  errors: [],
})

export const addToCollection = contract({
  name: 'addToCollection',
  method: 'POST',
  path: '/api/collections/{collType}/{itemId}',
  tag,
  summary: 'Put a file, for bookmarks also an action, into a collection',
  auth: 'required',
  scope: 'write:collections',
  params: itemParams,
  reply: { kind: 'data', status: 200, schema: CollectionItem },
  errors: ['E-FILE-NOTFOUND', 'E-ACTION-NOTFOUND', 'E-NOTFOUND'],
})

export const removeFromCollection = contract({
  name: 'removeFromCollection',
  method: 'DELETE',
  path: '/api/collections/{collType}/{itemId}',
  tag,
  summary: 'Take an item out of a collection',
  auth: 'required',
  scope: 'write:collections',
  params: itemParams,
  reply: { kind: 'data', status: 200, schema: Type.Literal('ok') },
  errors: [],
})

export const changeFileUserData = contract({
  name: 'changeFileUserData',
  method: 'PATCH',
  path: '/api/files/{fileId}/user',
  tag,
  summary: 'Pin or star a file for the caller: the same as adding it to `PIND` or `FAVR`',
  auth: 'required',
  gateway: true,
  scope: 'write:files',
  params: Type.Object({ fileId: FileIdParam }),
  body: {
    kind: 'json',
    schema: Type.Object({
      pinned: Type.Optional(Type.Boolean()),
      starred: Type.Optional(Type.Boolean()),
    }),
  },
  reply: { kind: 'data', status: 200, schema: FileUserData },
  errors: ['E-FILE-NOTFOUND'],
})

export const collectionContracts = [listCollection, addToCollection, removeFromCollection, changeFileUserData]
