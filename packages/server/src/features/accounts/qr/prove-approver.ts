import type { Identified, Tenant } from '#infra/caller/index.ts'
import type { Writer } from '#infra/db/index.ts'
import {
  checkPasskey,
  type PasskeyAnswer,
  type PasskeyLoginDeps,
  usePasskey,
} from '../passkeys/check-passkey.ts'
import { checkPresentPassword } from '../passwords/check-present-password.ts'
import type { PasswordHasher } from '../passwords/password-hasher.ts'
import { assertRecentlySignedIn } from '../sessions/personal-caller.ts'
import { forgiveAttempt } from '../sign-in/count-attempt.ts'

export interface ProveApproverDeps extends PasskeyLoginDeps {
  readonly passwords: PasswordHasher
}

/** What shows that the owner is there, where the sign-in is not recent. */
export interface ApproverProof {
  readonly password?: string | undefined
  readonly credential?: PasskeyAnswer | undefined
}

/** Fails unless the owner is there: a stolen token must not sign other devices in. Answers what belongs into the transaction
 * of the approval. */
export async function proveApprover(
  deps: ProveApproverDeps,
  {
    tenant,
    caller,
    ip,
    password,
    credential,
  }: ApproverProof & { readonly tenant: Tenant; readonly caller: Identified; readonly ip: string },
): Promise<(tx: Writer) => Promise<boolean>> {
  if (password !== undefined) {
    const { buckets } = await checkPresentPassword(deps, { tenant, caller, password, ip })
    return async (tx) => {
      await forgiveAttempt(tx, buckets)
      return true
    }
  }
  if (credential !== undefined) {
    const proof = await checkPasskey(deps, { tenant, device: { ip }, answer: credential })
    return (tx) => usePasskey(deps, tx, proof)
  }
  assertRecentlySignedIn(deps, caller)
  return async () => true
}
