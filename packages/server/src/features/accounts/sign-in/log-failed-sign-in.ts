import type { IdTag } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import type { Logger } from '#infra/telemetry/index.ts'
import { Failure } from '#lib/failure.ts'

export interface FailedSignInDeps {
  readonly logger: Pick<Logger, 'warn'>
}

interface Attempt {
  /** The client's address. */
  readonly ip: string
  readonly method: 'password' | 'passkey' | 'apiKey' | 'reference' | 'qr'
  readonly tenant: Tenant
  /** Who wanted to sign in, where the request says so. */
  readonly idTag?: IdTag
}

/** Logs a wrong credential, for programs that block addresses: the filter in docs/operations/logs.md reads the message and
 * `ip`, which therefore comes first. */
export function logFailedSignIn({ logger }: FailedSignInDeps, attempt: Attempt): void {
  const { ip, method, tenant, idTag } = attempt
  logger.warn(
    { ip, method, tenant: tenant.idTag, ...(idTag === undefined ? {} : { idTag }) },
    'sign-in failed',
  )
}

/** Does the work, and logs it as a wrong credential when it fails with `E-NOTFOUND`. */
export async function loggingUnknown<Result>(
  deps: FailedSignInDeps,
  attempt: Attempt,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Failure && error.code === 'E-NOTFOUND') logFailedSignIn(deps, attempt)
    throw error
  }
}
