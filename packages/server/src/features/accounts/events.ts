import type { IdTag } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'

/** What happened to the ways into the tenant of a transaction. */
export type AccountEvent =
  | {
      /** A person has signed in, or a session of theirs was ended. */
      readonly kind: 'session.signed-in' | 'session.revoked'
      readonly callerTag: IdTag
      readonly sid: string
    }
  | {
      /** A session was ended, of a person, a visitor or a key, with all that was allowed in it. */
      readonly kind: 'session.ended'
      readonly sid: string
    }
  | {
      /** What the session is worth has changed. */
      readonly kind: 'session.narrowed'
      readonly sid: string
    }
  | {
      /** The session to drop from caches; all of the tenant when absent. */
      readonly kind: 'credentials.forgotten'
      readonly sid: string | undefined
    }
  | {
      /** The owner has set a password with a reference. */
      readonly kind: 'password.set'
      readonly tenant: Tenant
    }
