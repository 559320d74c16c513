import type { Tenant } from '#infra/caller/index.ts'
import { hasCurrent, type RawRoute, type RawVisit, type WholeAnswer } from '#infra/http/index.ts'
import { etagOf } from './etag.ts'
import { findAsset } from './page-assets.ts'
import { type PageLanguage, pageLanguage } from './page-language.ts'
import { type PageName, renderNotice, renderPage } from './render-page.ts'

interface PagesDeps {
  /** The tenant on whose host a visit arrives. */
  findTenant(host: string): Promise<Tenant | undefined>
  /** Who may register on the host of a tenant; undefined where registration is closed. */
  findRegistration(tenant: Tenant): Promise<'open' | 'invite' | undefined>
  /** Does the tenant give names to others? */
  isProvider(tenant: Tenant): Promise<boolean>
}

/** The pages on which a person registers, signs in, sets a password, manages sessions and passkeys, and founds a
 * community, on every tenant's host; the public one that shows what a link shares; and on identity providers the one
 * on which a name is activated. */
export function pageRoutes(deps: PagesDeps): RawRoute[] {
  const page = (path: string, name: PageName): RawRoute => ({
    method: 'GET',
    path,
    handle: (visit) => answerPage(deps, name, visit),
  })
  return [
    page('/', 'home'),
    page('/login', 'login'),
    page('/set-password', 'set-password'),
    page('/register', 'register'),
    page('/activate', 'activate'),
    page('/communities/new', 'found-community'),
    page('/shared/{refId}', 'shared'),
    { method: 'GET', path: '/assets/{asset}', handle: answerAsset },
  ]
}

async function answerPage(
  deps: PagesDeps,
  name: PageName,
  { request, peer }: RawVisit,
): Promise<WholeAnswer> {
  const language = pageLanguage(request.headers['accept-language'])
  const tenant = peer.host === undefined ? undefined : await deps.findTenant(peer.host)
  if (!tenant) return pageAnswer(404, renderNotice('absent', undefined, language), language)
  const isOfProvider = name === 'activate'
  if (isOfProvider && !(await deps.isProvider(tenant)))
    return pageAnswer(404, renderNotice('absentPage', tenant.idTag, language), language)
  // A community has no password and no sessions of its own: its members come with their own identities.
  if (tenant.type === 'community' && !isOfProvider && name !== 'shared') {
    const status = name === 'home' ? 200 : 404
    return pageAnswer(status, renderNotice('community', tenant.idTag, language), language)
  }
  const registration = await deps.findRegistration(tenant)
  if (name === 'register' && registration === undefined)
    return pageAnswer(404, renderNotice('absentPage', tenant.idTag, language), language)
  const html = renderPage(name, { idTag: tenant.idTag, registration }, language)
  const answer = pageAnswer(200, html, language)
  return orUnchanged(request, answer)
}

async function answerAsset({ request, params }: RawVisit): Promise<WholeAnswer> {
  const answer = await findAsset(String(params.asset))
  return answer ? orUnchanged(request, answer) : { status: 404, headers: { 'cache-control': 'no-store' } }
}

function orUnchanged(request: RawVisit['request'], answer: WholeAnswer): WholeAnswer {
  const { headers = {} } = answer
  return hasCurrent(request, headers.etag) ? { status: 304, headers } : answer
}

// Nothing inline runs, and nothing is loaded from or sent to another origin.
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

function pageAnswer(status: number, html: string, language: PageLanguage): WholeAnswer {
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-language': language,
    'content-security-policy': contentSecurityPolicy,
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-cache',
    vary: 'Accept-Language',
    ...(status === 200 ? { etag: etagOf(html) } : {}),
  }
  return { status, headers, body: html }
}
