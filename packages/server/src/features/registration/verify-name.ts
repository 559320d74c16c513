import type { IdTag, NameProblemCode } from '@kith/protocol'
import type { FailedSignInDeps } from '#features/accounts/index.ts'
import type { Tenants } from '#features/tenants/index.ts'
import type { Database } from '#infra/db/index.ts'
import { rateKeyOf } from '#infra/http/index.ts'
import type { Clock } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import type { NameCheck, WantedName } from './check-name.ts'
import { getInvitation } from './invitation.ts'

interface VerifyNameDeps extends FailedSignInDeps {
  readonly db: Database
  readonly clock: Clock
  readonly tenants: Pick<Tenants, 'base'>
  readonly names: NameCheck
}

interface VerifiedName {
  readonly available: boolean
  readonly idTag: IdTag
  readonly errors: NameProblemCode[]
  readonly serverAddresses: string[]
}

/** Lists the reasons against a name. With an invalid invitation nothing is looked up or revealed. */
export async function verifyName(
  deps: VerifyNameDeps,
  { token = '', ip, ...wanted }: WantedName & { readonly token?: string | undefined; readonly ip: string },
): Promise<VerifiedName> {
  const problem = token === '' ? undefined : await findTokenProblem(deps, { token, ip, kind: wanted.kind })
  const problems = problem
    ? [problem]
    : (await deps.names.find(wanted, { cause: 'guest', key: rateKeyOf(ip) })).map(({ code }) => code)
  return {
    available: problems.length === 0,
    idTag: wanted.idTag,
    errors: [...new Set(problems)],
    serverAddresses: [...deps.names.serverAddresses],
  }
}

async function findTokenProblem(
  deps: VerifyNameDeps,
  { token, ip, kind }: { readonly token: string; readonly ip: string; readonly kind: WantedName['kind'] },
): Promise<'E-NOTFOUND' | 'E-GONE' | undefined> {
  const base = await deps.tenants.base()
  const isFor = kind === 'community' ? 'community' : 'person'
  try {
    await getInvitation(deps, base, { token, isFor, ip })
    return undefined
  } catch (error) {
    if (error instanceof Failure && (error.code === 'E-NOTFOUND' || error.code === 'E-GONE'))
      return error.code
    throw error
  }
}
