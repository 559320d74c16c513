import { expect, onTestFinished } from 'vitest'
import type { HostedTenant } from '#features/tenants/index.ts'
import type { RateLimitName } from '#infra/http/index.ts'
import type { OpenTestDatabase } from './each-dialect.ts'
import { bearer, jsonBody, type Received, startHttpSite } from './http-site.ts'
import { openSignInLab, type SignInLab } from './sign-in-lab.ts'

export const password = 'correct horse battery'

interface Asked {
  /** The tenant on whose host to ask; Alice when absent. */
  readonly host?: string
  readonly token?: string | undefined
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Sign-in behind real HTTP: Alice and Bob with passwords, and a base tenant. Stops with the test. */
export async function openSignInSite(
  open: OpenTestDatabase,
  limits: Partial<Record<RateLimitName, number>> = {},
) {
  const lab = await openSignInLab(open, limits)
  const base = await lab.makeTenant('home.example.com', { password, isBase: true })
  const alice = await lab.makeTenant('alice.example.com', { password, email: 'alice@example.com' })
  const bob = await lab.makeTenant('bob.example.com', { password })
  const site = await serveSignIn(lab)
  return { ...lab, ...site, base, alice, bob }
}

export type SignInSite = Awaited<ReturnType<typeof openSignInSite>>

/** One process of a server behind real HTTP. Stops with the test. */
export async function serveSignIn(lab: SignInLab) {
  const site = await startHttpSite(lab.endpoints, {
    clock: lab.clock,
    rateLimits: lab.deps.rateLimits,
    trustedProxies: ['127.0.0.1/32'],
    hooks: {
      findTenant: (host) => lab.tenants.findByHost(host),
      authenticate: (presented) => lab.authenticator.authenticate(presented),
    },
  })
  await lab.jobs.start()
  onTestFinished(async () => {
    await lab.jobs.stop()
    await site.close()
    expect(site.logged).toEqual([])
  })
  const ask = (method: string, path: string, asked: Asked = {}): Promise<Received> => {
    const { host = 'alice.example.com', token, body, headers = {} } = asked
    const sent = body === undefined ? {} : jsonBody(body)
    return site.send(path, {
      method,
      headers: { ...sent.headers, ...headers, ...(token === undefined ? {} : bearer(token)), host },
      ...(sent.body === undefined ? {} : { body: sent.body }),
    })
  }
  const login = async (tenant: Pick<HostedTenant, 'idTag'>, from?: string) => {
    const headers = from === undefined ? {} : { 'x-forwarded-for': from }
    const body = { idTag: tenant.idTag, password }
    const { json } = await ask('POST', '/api/auth/login', { host: tenant.idTag, body, headers })
    return json.data.token as string
  }
  return { ask, login, logged: site.logged, debugged: site.debugged, port: site.port }
}

/** What a refused request answers. */
export function refused(answer: Received, status: number, code: string): void {
  expect({ status: answer.status, code: answer.json?.error?.code }).toEqual({ status, code })
}
