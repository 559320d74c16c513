import {
  changeEmail as changeEmailContract,
  confirmEmail as confirmEmailContract,
  getEmail as getEmailContract,
} from '@kith/protocol'
import { bind, type Endpoint } from '#infra/http/index.ts'
import { findAccount } from '../account-store.ts'
import { type ChangeEmailDeps, changeEmail } from './change-email.ts'
import { type ConfirmEmailDeps, confirmEmail } from './confirm-email.ts'
import { describeEmail } from './email-address.ts'

export type EmailEndpointsDeps = ChangeEmailDeps & ConfirmEmailDeps

export function emailEndpoints(deps: EmailEndpointsDeps): Endpoint[] {
  return [
    bind(getEmailContract, async ({ tenant }) => {
      const reader = deps.db.reader(tenant.tenantId)
      return describeEmail(deps, reader, (await findAccount(reader)) ?? {})
    }),
    bind(changeEmailContract, ({ tenant, caller, body, ip }) =>
      changeEmail(deps, { tenant, caller, ip, ...body }),
    ),
    bind(confirmEmailContract, ({ tenant, body, ip }) => confirmEmail(deps, { tenant, ip, ...body })),
  ]
}
