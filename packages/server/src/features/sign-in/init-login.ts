import type { LoginSession, PasskeyLoginChallenge, QrSecret } from '@kith/protocol'
import type { Device } from '#features/sessions/index.ts'
import type { Caller, Tenant } from '#infra/caller/index.ts'
import type { CompleteLoginDeps } from './complete-login.ts'
import { challengePasskeyLogin } from './passkey-login.ts'
import { initQrLogin } from './qr-login.ts'
import { refreshLogin } from './refresh-login.ts'

interface LoginStart {
  readonly status: 'authenticated' | 'unauthenticated'
  readonly login?: LoginSession
  readonly qrLogin?: QrSecret
  readonly webAuthn?: PasskeyLoginChallenge
}

/** What a sign-in page starts with; who has a login token needs no such page. */
export async function initLogin(
  deps: CompleteLoginDeps,
  { tenant, caller, device }: { tenant: Tenant; caller: Caller; device: Device },
): Promise<LoginStart> {
  if (caller.kind === 'identity' && caller.tokenUse === 'login')
    return { status: 'authenticated', login: await refreshLogin(deps, { tenant, caller }) }
  const qrLogin = await initQrLogin(deps, { tenant, device })
  const webAuthn = await challengePasskeyLogin(deps, { tenant, idTag: tenant.idTag })
  return { status: 'unauthenticated', qrLogin, webAuthn }
}
