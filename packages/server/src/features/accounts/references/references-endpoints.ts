import {
  createReference as createReferenceContract,
  deleteReference as deleteReferenceContract,
  findReference as findReferenceContract,
  getReference as getReferenceContract,
  listReferences as listReferencesContract,
} from '@kith/protocol'
import { bind, type Endpoint } from '#infra/http/index.ts'
import type { RevokeDeps } from '../sessions/start-session.ts'
import { type CreateReferenceDeps, createReference } from './create-reference.ts'
import { deleteReference, type GetReferenceDeps, getReference, listReferences } from './manage-references.ts'
import { toView } from './reference-view.ts'

export interface ReferencesDeps extends CreateReferenceDeps, GetReferenceDeps, RevokeDeps {}

export function referencesEndpoints(deps: ReferencesDeps): Endpoint[] {
  return [
    bind(listReferencesContract, ({ tenant, caller, query }) =>
      listReferences(deps, { tenant, caller, limit: 20, offset: 0, ...query }),
    ),
    bind(createReferenceContract, async ({ tenant, caller, body, ip }) =>
      toView(await createReference(deps, { tenant, caller, ip, ...body })),
    ),
    bind(findReferenceContract, ({ tenant, caller, body }) =>
      getReference(deps, { tenant, caller, refId: body.refId }),
    ),
    bind(getReferenceContract, ({ tenant, caller, params }) =>
      getReference(deps, { tenant, caller, refId: params.refId }),
    ),
    bind(deleteReferenceContract, async ({ tenant, caller, params, ip }) => {
      await deleteReference(deps, { tenant, caller, refId: params.refId, ip })
      return null
    }),
  ]
}
