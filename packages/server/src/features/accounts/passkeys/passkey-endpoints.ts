import {
  addPasskey as addContract,
  deletePasskey as deleteContract,
  getPasskeyChallenge,
  getPasskeyLoginChallenge,
  listPasskeys as listContract,
  loginWithPasskey as loginContract,
  renamePasskey as renameContract,
} from '@kith/protocol'
import { bind, type Endpoint } from '#infra/http/index.ts'
import {
  addPasskey,
  challengeNewPasskey,
  deletePasskey,
  listOwnPasskeys,
  type PasskeyDeps,
  renamePasskey,
} from './manage-passkeys.ts'
import { challengePasskeyLogin, loginWithPasskey } from './passkey-login.ts'

export type PasskeyEndpointsDeps = PasskeyDeps

export function passkeyEndpoints(deps: PasskeyEndpointsDeps): Endpoint[] {
  return [
    bind(listContract, ({ tenant }) => listOwnPasskeys(deps, { tenant })),
    bind(getPasskeyChallenge, ({ tenant, caller }) => challengeNewPasskey(deps, { tenant, caller })),
    bind(addContract, ({ tenant, caller, body, ip }) =>
      addPasskey(deps, { tenant, caller, name: body.name, answer: body.credential, ip }),
    ),
    bind(renameContract, ({ tenant, caller, params, body, ip }) =>
      renamePasskey(deps, { tenant, caller, keyId: params.keyId, name: body.name, ip }),
    ),
    bind(deleteContract, async ({ tenant, caller, params, ip }) => {
      await deletePasskey(deps, { tenant, caller, keyId: params.keyId, ip })
      return 'ok' as const
    }),
    bind(getPasskeyLoginChallenge, ({ tenant, query }) =>
      challengePasskeyLogin(deps, { tenant, idTag: query.idTag }),
    ),
    bind(loginContract, ({ tenant, body, ip, userAgent }) =>
      loginWithPasskey(deps, { tenant, device: { ip, userAgent }, answer: body.credential }),
    ),
  ]
}
