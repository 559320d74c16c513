import type { LoginSession, PasskeyLoginChallenge, QrSecret } from '@kith/protocol'
import type { Caller, Tenant } from '#infra/caller/index.ts'
import { assertRate, type RateLimits, rateKeyOf } from '#infra/http/index.ts'
import { Failure } from '#lib/failure.ts'
import { challengePasskeyLogin } from '../passkeys/passkey-login.ts'
import { initQrLogin } from '../qr/qr-login.ts'
import type { Device } from '../sessions/start-session.ts'
import type { CompleteLoginDeps } from './complete-login.ts'
import { refreshLogin } from './refresh-login.ts'

export interface InitLoginDeps extends CompleteLoginDeps {
  readonly rateLimits: RateLimits
}

interface LoginStart {
  readonly status: 'authenticated' | 'unauthenticated'
  readonly login?: LoginSession
  readonly qrLogin?: QrSecret
  readonly webAuthn?: PasskeyLoginChallenge
}

/** What a sign-in page starts with; a caller with a login token needs no such page. */
export async function initLogin(
  deps: InitLoginDeps,
  { tenant, caller, device }: { tenant: Tenant; caller: Caller; device: Device },
): Promise<LoginStart> {
  if (caller.kind === 'identity' && caller.tokenUse === 'login')
    return { status: 'authenticated', login: await refreshLogin(deps, { tenant, caller }) }
  const qrLogin = await tryQrLogin(deps, { tenant, device })
  const webAuthn = await challengePasskeyLogin(deps, { tenant, idTag: tenant.idTag })
  return { status: 'unauthenticated', ...(qrLogin ? { qrLogin } : {}), webAuthn }
}

/** Undefined when there are too many: other ways in stay open. */
async function tryQrLogin(
  deps: InitLoginDeps,
  asking: { tenant: Tenant; device: Device },
): Promise<QrSecret | undefined> {
  try {
    await assertRate(deps, 'qr', rateKeyOf(asking.device.ip))
    return await initQrLogin(deps, asking)
  } catch (error) {
    if (error instanceof Failure && error.code === 'E-RATELIMIT') return undefined
    throw error
  }
}
