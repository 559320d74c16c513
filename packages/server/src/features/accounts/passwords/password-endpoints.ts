import {
  changePassword as changePasswordContract,
  forgotPassword as forgotPasswordContract,
  parseRefId,
  setPassword as setPasswordContract,
} from '@kith/protocol'
import { bind, type Endpoint } from '#infra/http/index.ts'
import { loggingUnknown } from '../sign-in/log-failed-sign-in.ts'
import { type ChangePasswordDeps, changePassword } from './change-password.ts'
import { type ForgotPasswordDeps, forgotPassword } from './forgot-password.ts'
import { setPasswordByReference } from './set-password.ts'

export type PasswordEndpointsDeps = ChangePasswordDeps & ForgotPasswordDeps

export function passwordEndpoints(deps: PasswordEndpointsDeps): Endpoint[] {
  return [
    bind(changePasswordContract, async ({ tenant, caller, body, ip }) => {
      await changePassword(deps, { tenant, caller, ip, ...body })
      return { success: true }
    }),
    bind(setPasswordContract, async ({ tenant, body, ip }) => {
      const refId = parseRefId(body.token)
      const { password, signOutEverything } = body
      await loggingUnknown(deps, { ip, method: 'reference', tenant }, () =>
        setPasswordByReference(deps, { tenant, refId, password, signOutEverything, ip }),
      )
      return { success: true }
    }),
    bind(forgotPasswordContract, async ({ tenant, body, ip }) => {
      await forgotPassword(deps, { tenant, ip, ...body })
      return { sent: true }
    }),
  ]
}
