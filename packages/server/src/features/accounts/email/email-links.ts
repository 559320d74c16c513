import type { Tenant } from '#infra/caller/index.ts'
import { assertRate, type RateLimits, rateKeyOf } from '#infra/http/index.ts'
import {
  type ConfirmEmailDeps,
  type ConfirmedEmail,
  confirmEmail,
  type EmailLink,
  lookAtEmailLink,
} from './confirm-email.ts'

interface LinkRequest {
  readonly tenant: Tenant
  readonly token: string
  readonly ip: string
}

/** What the page of a link that confirms an address asks for; counted as the same requests to the API are. */
export interface EmailLinks {
  look(request: LinkRequest): Promise<EmailLink>
  /** `E-NOTFOUND` and `E-GONE` as of `confirmEmail`. */
  confirm(request: LinkRequest): Promise<ConfirmedEmail>
}

export function openEmailLinks(deps: ConfirmEmailDeps & { readonly rateLimits: RateLimits }): EmailLinks {
  return {
    async look({ ip, ...visit }) {
      await assertRate(deps, 'reference', rateKeyOf(ip))
      return lookAtEmailLink(deps, visit)
    },
    async confirm(request) {
      await assertRate(deps, 'recovery', rateKeyOf(request.ip))
      return confirmEmail(deps, request)
    },
  }
}
