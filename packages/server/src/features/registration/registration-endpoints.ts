import { registerAccount as registerAccountContract, verifyName as verifyNameContract } from '@kith/protocol'
import { bind, type Endpoint } from '#infra/http/index.ts'
import { type RegisterAccountDeps, registerAccount } from './register-account.ts'
import { verifyName } from './verify-name.ts'

export function registrationEndpoints(deps: RegisterAccountDeps): Endpoint[] {
  return [
    bind(verifyNameContract, ({ body: { type: kind, ...wanted }, ip }) =>
      verifyName(deps, { kind, ip, ...wanted }),
    ),
    bind(registerAccountContract, ({ body, ip, userAgent }) =>
      registerAccount(deps, { ...body, device: { ip, userAgent } }),
    ),
  ]
}
